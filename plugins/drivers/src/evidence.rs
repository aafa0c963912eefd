//! What was looked at while a backend opened, and what was found there.

use skillbench_plugin_api::sdk::Host;
use skillbench_plugin_api::{Error, Result, Why};
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::Path;

/// Findings in the order in which they were made. The host hears of them also where opening fails.
#[derive(Default)]
pub struct Evidence(Vec<(String, String)>);

impl Evidence {
    /// Does what gathers evidence; the host is told also of what failed.
    pub fn of<T>(host: &Host, work: impl FnOnce(&mut Evidence) -> Result<T>) -> Result<T> {
        let mut evidence = Evidence::default();
        let done = work(&mut evidence);
        evidence.tell(host);
        done
    }

    pub fn add(&mut self, what: impl Into<String>, found: impl Display) {
        self.0.push((what.into(), found.to_string()));
    }

    /// Whether a device node is there, and may be used by this process; tells so in words too.
    pub fn node(&mut self, path: &str) -> bool {
        let found = OpenOptions::new().read(true).write(true).open(path).map_err(|error| error.kind());
        let text = match found {
            Ok(_) => "there",
            Err(ErrorKind::NotFound) => "not found",
            Err(ErrorKind::PermissionDenied) => "there, but this user may not open it",
            Err(_) => "there, but it cannot be opened",
        };
        self.add(path, text);
        found.is_ok()
    }

    /// The first line of a small file of the kernel.
    pub fn line(&mut self, path: &str) -> Option<String> {
        let line = first_line(Path::new(path));
        self.add(path, line.as_deref().unwrap_or("not found"));
        line
    }

    /// How many GPUs and accelerators of a vendor ("10de") are on the PCI bus; `None` where the kernel does not tell.
    pub fn pci(&mut self, vendor: &str) -> Option<usize> {
        let what = format!("PCI devices of vendor {vendor}");
        let Ok(entries) = std::fs::read_dir("/sys/bus/pci/devices") else {
            self.add(what, "cannot be told");
            return None;
        };
        let is = |folder: &Path, file: &str, starts: &[&str]| {
            let value = first_line(&folder.join(file)).unwrap_or_default();
            starts.iter().any(|start| value.trim_start_matches("0x").starts_with(start))
        };
        // Classes: 03 display, 12 accelerators.
        let folders = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let count = folders.filter(|at| is(at, "vendor", &[vendor]) && is(at, "class", &["03", "12"])).count();
        self.add(what, count);
        Some(count)
    }

    /// Tells what was not told yet.
    pub fn tell(&mut self, host: &Host) {
        self.0.drain(..).for_each(|(what, found)| host.evidence(&what, &found));
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(what, found)| (&**what, &**found))
    }
}

/// Both, or what is missing of them: a machine that lacks driver and runtime is to say so in one go.
///
/// # Errors
/// That of the one that is missing; where both are, the driver's, with the runtime's after it.
pub fn both<A, B>(driver: Result<A>, runtime: Result<B>) -> Result<(A, B)> {
    match (driver, runtime) {
        (Ok(driver), Ok(runtime)) => Ok((driver, runtime)),
        (Err(driver), Err(runtime)) => {
            let message = format!("{}; also, {}", driver.message, runtime.message);
            Err(Error { why: Why(driver.why.0 | runtime.why.0), message, ..driver })
        }
        (Err(error), Ok(_)) | (Ok(_), Err(error)) => Err(error),
    }
}

pub(crate) fn first_line(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    text.lines().next().map(|line| line.trim().to_string()).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{Evidence, both};
    use skillbench_plugin_api::{Error, Why};

    #[test]
    fn a_machine_that_lacks_driver_and_runtime_says_both() {
        let driver = || Error::unavailable(Why::DRIVER, "no driver");
        let runtime = || Error::unavailable(Why::RUNTIME, "no runtime");
        let error = both::<(), ()>(Err(driver()), Err(runtime())).unwrap_err();
        assert_eq!((&*error.message, error.why), ("no driver; also, no runtime", Why(Why::DRIVER.0 | Why::RUNTIME.0)));
        assert_eq!(both::<_, ()>(Ok(()), Err(runtime())).unwrap_err(), runtime());
        assert!(both::<_, Error>(Ok(1), Ok(driver())).is_ok());
    }

    #[test]
    fn a_node_is_told_from_one_that_is_missing() {
        let mut evidence = Evidence::default();
        assert!(evidence.node("/dev/null") && !evidence.node("/dev/no-such-node"));
        assert_eq!(evidence.line("/proc/no/such/file"), None);
        let found: Vec<_> = evidence.iter().collect();
        assert_eq!(found[0], ("/dev/null", "there"));
        assert_eq!(found[1], ("/dev/no-such-node", "not found"));
    }
}
