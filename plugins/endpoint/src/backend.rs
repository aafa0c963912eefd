//! Opening: who answers there. Loading: which of its models the graph is.

use crate::client::Client;
use crate::model::{EndpointModel, ports_of};
use crate::protocol::{Described, Served, Server, path_of};
use crate::settings::{Encoding, Settings};
use skillbench_onnx::Declared;
use skillbench_plugin_api::sdk::{Backend, Host, Offers};
use skillbench_plugin_api::{Code, Device, DeviceKind, Error, Load, Options, Placement, Port, Result, Why};
use std::ffi::CStr;

const DEVICE: &str = "remote";

pub struct EndpointBackend {
    host: Host,
    settings: Settings,
    client: Client,
    server: Server,
}

impl Backend for EndpointBackend {
    const ID: &'static CStr = c"endpoint";
    const OPTIONS_SCHEMA: &'static CStr = cr#"{
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "url": {
                "type": "string",
                "pattern": "^[^?#]*$",
                "description": "Where the server is: http://HOST:PORT, or https. It has to be set. A key that it asks for goes into the environment as SKILLBENCH_ENDPOINT_KEY."
            },
            "model": {
                "type": "string",
                "description": "What the server calls the model. Default: the only one that is served with the ports of the graph."
            },
            "version": {
                "type": "string",
                "description": "Which version of the model. Default: the one that the server chooses."
            },
            "encoding": {
                "type": "string",
                "enum": ["auto", "json", "binary"],
                "default": "auto",
                "description": "How tensors go over the wire. Default: auto, which is binary where the server has the extension binary_tensor_data."
            },
            "timeout_s": {
                "type": "number",
                "exclusiveMinimum": 0,
                "default": 60,
                "description": "Seconds that one request may take. Default: 60."
            }
        }
    }"#;
    const OFFERS: Offers = Offers { supports: true, from_memory: true, ..Offers::NONE };

    type Model = EndpointModel;

    fn open(host: Host, options: &Options) -> Result<EndpointBackend> {
        let settings = Settings::of(options).inspect_err(|_| host.evidence("option url", "not set, or not usable"))?;
        let client = Client::new(&settings);
        let server: Server = client.get("/v2").inspect_err(|error| host.evidence(&settings.url, &error.message))?;
        host.evidence(&settings.url, &server.describe());
        Ok(EndpointBackend { host, settings, client, server })
    }

    fn devices(&self) -> Vec<Device> {
        let name = format!("{} at {}", self.server.describe(), self.settings.authority);
        vec![Device { remote: true, ..Device::new(DEVICE, &name, DeviceKind::Other) }]
    }

    fn supports(&self, load: &Load) -> Result<()> {
        self.found(load).map(drop)
    }

    fn load(&self, load: &Load) -> Result<EndpointModel> {
        let Found { name, described, ports: [inputs, outputs] } = self.found(load)?;
        let path = path_of(&name, self.settings.version.as_deref());
        let not_ready = |error: Error| Error { message: format!("'{name}' is not ready: {}", error.message), ..error };
        self.client.check(&format!("{path}/ready")).map_err(not_ready)?;
        let binary = self.settings.encoding.unwrap_or(match self.server.takes_bytes() {
            true => Encoding::Binary,
            false => Encoding::Json,
        });
        let platform = if described.platform.is_empty() { String::new() } else { format!(", {}", described.platform) };
        let form = match binary {
            Encoding::Binary => "bytes",
            Encoding::Json => "JSON",
        };
        Ok(EndpointModel {
            settings: self.settings.clone(),
            encoding: binary,
            path: format!("{path}/infer"),
            inputs,
            outputs,
            placement: Placement {
                device: DEVICE.into(),
                engine: format!("{}: {name}{platform} (tensors as {form})", self.server.describe()),
                // Precision, nodes and times of loading are the server's, which does not tell them.
                ..Placement::default()
            },
            host: self.host,
        })
    }
}

/// The served model that a graph is.
struct Found {
    name: String,
    described: Described,
    ports: [Vec<Port>; 2],
}

impl EndpointBackend {
    fn found(&self, load: &Load) -> Result<Found> {
        if load.source.format != "onnx" {
            let text = format!("the ports of a model are read from an ONNX graph, not from '{}'", load.source.format);
            return Err(Error::unimplemented(Why::MODEL, text));
        }
        if let Some(asked) = load.precision.as_deref() {
            let text = format!("nobody can ask a server for {asked}, and it does not tell what it computes in");
            return Err(Error::unimplemented(Why::PRECISION, text));
        }
        let ports = ports_of(&declared(load)?)?;
        match &self.settings.model {
            Some(name) => {
                let described = self.described(name)?;
                match described.differs(&ports[0], &ports[1]) {
                    None => Ok(Found { name: name.clone(), described, ports }),
                    Some(how) => {
                        Err(Error::invalid(format!("'{name}' is not this model: {how}")).because(Why::RUNTIME))
                    }
                }
            }
            None => self.searched(ports),
        }
    }

    /// The only served model with these ports.
    fn searched(&self, ports: [Vec<Port>; 2]) -> Result<Found> {
        let next = "name the model: `--option endpoint:model=NAME`";
        let served: Vec<Served> =
            self.client.ask("/v2/repository/index", r#"{"ready":true}"#).map_err(|error| match error.code {
                Code::NotFound | Code::Unimplemented | Code::InvalidArgument => {
                    Error::not_found(format!("{} does not list its models: {next}", self.settings.url))
                        .because(Why::RUNTIME)
                }
                _ => error,
            })?;
        let mut fitting = vec![];
        let mut others = vec![];
        for Served { name, .. } in served.into_iter().filter(|one| matches!(one.state.as_str(), "" | "READY")) {
            let described = self.described(&name)?;
            match described.differs(&ports[0], &ports[1]) {
                None => fitting.push((name, described)),
                Some(how) => others.push(format!("{name} ({how})")),
            }
        }
        match fitting.len() {
            1 => {
                let (name, described) = fitting.remove(0);
                Ok(Found { name, described, ports })
            }
            0 => {
                let none = if others.is_empty() { "nothing is ready".into() } else { others.join(", ") };
                let text = format!("{} does not serve this model: {none}", self.settings.url);
                Err(Error::not_found(text).because(Why::RUNTIME))
            }
            _ => {
                let names: Vec<String> = fitting.into_iter().map(|(name, _)| name).collect();
                let text =
                    format!("{} serves several that it could be ({}): {next}", self.settings.url, names.join(", "));
                Err(Error::invalid(text).because(Why::RUNTIME))
            }
        }
    }

    fn described(&self, name: &str) -> Result<Described> {
        self.client.get(&path_of(name, self.settings.version.as_deref()))
    }
}

/// What the graph says of itself; its weights are the server's.
fn declared(load: &Load) -> Result<Declared> {
    let path = load.source.path.display();
    let broken =
        |what: String| Error::invalid(format!("{path} is not a whole ONNX model ({what})")).because(Why::MODEL);
    match &load.source.bytes {
        Some(bytes) => Declared::of(bytes).map_err(|error| broken(error.to_string())),
        None => {
            let file = std::fs::File::open(&load.source.path);
            let file = file.map_err(|error| Error::not_found(format!("{path} cannot be read: {error}")))?;
            Declared::read(std::io::BufReader::new(file)).map_err(|error| broken(error.to_string()))
        }
    }
}
