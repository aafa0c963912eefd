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
        let nodes = gpus(Path::new("/dev"));
        let found = if nodes.is_empty() { "none".to_string() } else { nodes.join(", ") };
        host.evidence("GPUs in /dev", &found);
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

/// The device files of GPUs: render nodes, and NVIDIA's own, which is all that many containers have.
fn gpus(dev: &Path) -> Vec<String> {
    let names = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let of_nvidia = |name: &String| name.strip_prefix("nvidia").is_some_and(is_number);
    let mut found: Vec<String> = names(&dev.join("dri"))
        .into_iter()
        .filter(|name| name.starts_with("renderD"))
        .map(|name| format!("dri/{name}"))
        .collect();
    found.extend(names(dev).into_iter().filter(of_nvidia));
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::gpus;

    #[test]
    fn a_gpu_counts_by_its_render_node_or_by_the_file_that_nvidias_driver_makes() {
        let dev = tempfile::tempdir().unwrap();
        assert!(gpus(dev.path()).is_empty());
        std::fs::create_dir(dev.path().join("dri")).unwrap();
        for name in ["dri/card0", "dri/renderD128", "nvidia0", "nvidiactl", "nvidia-uvm", "nvidia12"] {
            std::fs::write(dev.path().join(name), "").unwrap();
        }
        assert_eq!(gpus(dev.path()), ["dri/renderD128", "nvidia0", "nvidia12"]);
    }
}
