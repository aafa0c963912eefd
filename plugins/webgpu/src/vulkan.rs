//! The Vulkan driver that the provider is to find in this process. On macOS and Windows it uses Metal and Direct3D, and
//! nothing has to be prepared.

use skillbench_onnxruntime::process::{preload, set_variable};
use skillbench_plugin_api::sdk::Host;
use skillbench_plugin_api::{Error, Options, Result, Why};
use std::path::Path;

/// Which adapter is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Adapter {
    Hardware,
    /// A rasterizer on the processor: emulated.
    Software,
}

impl Adapter {
    /// The asked one; else the machine's GPU, and software where it has none.
    pub fn choose(host: &Host, options: &Options) -> Adapter {
        if !cfg!(target_os = "linux") {
            return Adapter::Hardware;
        }
        let nodes = render_nodes();
        let found = if nodes.is_empty() { "none".to_string() } else { nodes.join(", ") };
        host.evidence("render nodes in /dev/dri", &found);
        match options.get("adapter") {
            Some("hardware") => Adapter::Hardware,
            Some("software") => Adapter::Software,
            _ if nodes.is_empty() => Adapter::Software,
            _ => Adapter::Hardware,
        }
    }

    /// Makes the loader, and for a software adapter its driver, the ones that are found.
    ///
    /// # Errors
    /// `Unavailable` where one is missing, with what installs it.
    pub fn prepare(self, host: &Host, options: &Options) -> Result<()> {
        if !cfg!(target_os = "linux") {
            return Ok(());
        }
        load_vulkan(host, options.get("vulkan"))?;
        if self == Adapter::Software {
            let driver = options.get("software_driver").filter(|path| Path::new(path).is_file()).ok_or_else(|| {
                let text =
                    "this machine has no GPU, and there is no software driver: run `host runtime install webgpu`";
                host.evidence("software driver", text);
                Error::unavailable(Why::DRIVER, text)
            })?;
            host.evidence("software driver", driver);
            set_variable("VK_ICD_FILENAMES", driver);
            set_variable("ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER", "1");
        }
        Ok(())
    }
}

/// The machine's own loader, or the one that was installed.
fn load_vulkan(host: &Host, installed: Option<&str>) -> Result<()> {
    const NAME: &str = "libvulkan.so.1";
    let system = preload(Path::new(NAME));
    host.evidence(NAME, system.as_ref().err().map_or("the system's", String::as_str));
    let (Err(of_system), Some(path)) = (&system, installed) else {
        return system.map_err(|text| {
            let next = "run `host runtime install webgpu`, or install the system package libvulkan1";
            Error::unavailable(Why::DRIVER, format!("the Vulkan loader is missing ({text}): {next}"))
        });
    };
    preload(Path::new(path)).map_err(|text| {
        host.evidence(path, &text);
        Error::unavailable(Why::DRIVER, format!("no Vulkan loader can be used: {of_system}; {path}: {text}"))
    })?;
    host.evidence(path, "loaded in its place");
    Ok(())
}

fn render_nodes() -> Vec<String> {
    let entries = std::fs::read_dir("/dev/dri").into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut nodes: Vec<String> = names.filter(|name| name.starts_with("renderD")).collect();
    nodes.sort();
    nodes
}
