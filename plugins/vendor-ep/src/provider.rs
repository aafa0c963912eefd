//! An execution provider about which nothing is known but its library.

use skillbench_onnxruntime::{Arithmetic, Configuration, Hardware, OrtProvider, Provider, Runtime, options_schema};
use skillbench_plugin_api::sdk::Host;
use skillbench_plugin_api::{Device, Error, Load, Options, Result, Why};
use std::ffi::CStr;
use std::path::{Path, PathBuf};

pub struct VendorEp {
    library: PathBuf,
    /// As its own devices name it.
    name: String,
    options: Vec<(String, String)>,
    session: Vec<(String, String)>,
    fixed_shapes: bool,
    emulated: bool,
}

impl OrtProvider for VendorEp {
    const ID: &'static CStr = c"vendor-ep";
    const OPTIONS_SCHEMA: &'static CStr = options_schema!(
        r#""provider": {
                "type": "string",
                "format": "path",
                "description": "Path of the vendor's library, a plugin execution provider of ONNX Runtime. It has to be set."
            }"#,
        r#""provider_options": {
                "type": "string",
                "description": "Options of the provider, as its vendor names them: KEY=VALUE, several with ';' between them."
            }"#,
        r#""session_options": {
                "type": "string",
                "description": "Configuration entries of the session: KEY=VALUE, several with ';' between them."
            }"#,
        r#""fixed_shapes": {
                "type": "boolean",
                "default": false,
                "description": "The provider takes only graphs whose dimensions are all fixed. Default: false."
            }"#,
        r#""emulated": {
                "type": "boolean",
                "default": false,
                "description": "The provider emulates its hardware on this machine; results are marked so. Default: false."
            }"#,
    );

    fn open(host: &Host, options: &Options, runtime: &'static Runtime) -> Result<VendorEp> {
        let library = options.get("provider").map(PathBuf::from).ok_or_else(|| {
            let text = "no vendor's library is named: set it with `--option vendor-ep:provider=PATH`, or in a registry";
            host.evidence("option provider", "not set");
            Error::unavailable(Why::RUNTIME, text)
        })?;
        let name = runtime.provider_of(&library).inspect_err(|error| {
            host.evidence(&library.display().to_string(), &error.message);
        })?;
        host.evidence(&library.display().to_string(), &format!("registered, as {name}"));
        Ok(VendorEp {
            library,
            name,
            options: pairs(options, "provider_options")?,
            session: pairs(options, "session_options")?,
            fixed_shapes: options.parse("fixed_shapes")?.unwrap_or(false),
            emulated: options.parse("emulated")?.unwrap_or(false),
        })
    }
}

/// `KEY=VALUE;KEY=VALUE`.
fn pairs(options: &Options, name: &str) -> Result<Vec<(String, String)>> {
    let all = options.get(name).unwrap_or_default().split(';').filter(|pair| !pair.trim().is_empty());
    let pair = |text: &str| {
        let (key, value) = text.split_once('=').ok_or_else(|| {
            Error::invalid(format!("option {name}: '{text}' is not KEY=VALUE; several go with ';' between them"))
        })?;
        Ok((key.trim().to_string(), value.trim().to_string()))
    };
    all.map(pair).collect()
}

impl Provider for VendorEp {
    fn name(&self) -> &str {
        &self.name
    }

    fn library(&self) -> Option<&Path> {
        Some(&self.library)
    }

    fn describe(&self, hardware: &Hardware) -> Device {
        let id = hardware.kind.name();
        Device {
            vendor: hardware.vendor.clone(),
            driver: hardware.metadata.get("version").cloned().unwrap_or_default(),
            emulated: self.emulated,
            ..Device::new(id, &format!("{} on {id}", self.name), hardware.kind)
        }
    }

    /// Several devices of one kind are numbered.
    fn devices(&self, listed: &[Hardware]) -> Vec<(Option<usize>, Device)> {
        let number = |(index, hardware): (usize, &Hardware)| {
            let mut device = self.describe(hardware);
            let before = listed[..index].iter().filter(|other| other.kind == hardware.kind).count();
            if before > 0 {
                device.id = format!("{}:{before}", device.id);
            }
            (Some(index), device)
        };
        listed.iter().enumerate().map(number).collect()
    }

    fn fixed_shapes(&self) -> bool {
        self.fixed_shapes
    }

    fn configure(&self, load: &Load, _device: &Device) -> Result<Configuration> {
        match &load.precision {
            None => Ok(Configuration { provider: self.options.clone(), session: self.session.clone() }),
            Some(asked) => {
                let text = format!(
                    "what {} computes in cannot be told, so {asked} cannot be promised: leave --precision out, and set it in provider_options",
                    self.name
                );
                Err(Error::unimplemented(Why::PRECISION, text))
            }
        }
    }

    fn precision(&self, _load: &Load, _device: &Device, _graph: Option<Arithmetic>) -> Option<&'static str> {
        None
    }
}
