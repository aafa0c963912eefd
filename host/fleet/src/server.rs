//! The program that carries the messages: which one is used, its configuration, and its life.
//!
//! It is a courier and never the only copy: agents keep the journals of what they measured. So one server is enough, and it writes to disk
//! before it says that it has something (`sync_interval: always`). It is a program of others: one that the machine has counts first, else the
//! package `nats` of the registry.

use crate::keys::Folder;
use skillbench_engine::registry::Registry;
use skillbench_engine::runtime;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The program, and the package that has it.
const PROGRAM: &str = "nats-server";
const PACKAGE: &str = "nats";
/// In the folder of a fleet.
const CONFIGURATION: &str = "nats.conf";
const LOG: &str = "nats.log";

/// Older ones lack a setting without which what was acknowledged could be lost.
const LEAST: [u64; 3] = [2, 10, 23];

#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("there is no {PROGRAM} here: install one ({}.{}.{} or later), or `host runtime install {PACKAGE}`", LEAST[0], LEAST[1], LEAST[2])]
    None,
    #[error("{path}: {text}", path = path.display())]
    Version { path: PathBuf, text: String },
    #[error("{path}: {error}", path = path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("the server ended: {0}")]
    Ended(String),
}

/// Refuses a server that is too old.
///
/// # Errors
/// What is needed.
pub fn check_version(version: &str) -> Result<(), String> {
    let numbers =
        version.trim_start_matches('v').split(['.', '-']).take(3).map(|part| part.parse::<u64>().unwrap_or(0));
    let found: Vec<u64> = numbers.collect();
    match found[..] >= LEAST[..] {
        true => Ok(()),
        false => {
            let least = LEAST.map(|number| number.to_string()).join(".");
            Err(format!(
                "the server is NATS {version}, and {least} or later is needed: older ones may lose what they have acknowledged"
            ))
        }
    }
}

/// The program that is used: the named one, the machine's, or the package's.
///
/// # Errors
/// There is none, or it is too old.
pub fn program(named: Option<&Path>, registry: &Registry) -> Result<PathBuf, ServerError> {
    let on_path = || {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).map(|folder| folder.join(PROGRAM)).find(|path| path.is_file())
    };
    let installed = || {
        let package = registry.package(PACKAGE)?;
        let within = package.file()?.paths.get("server")?;
        Some(runtime::folder(package).join(within)).filter(|path| path.is_file())
    };
    let path = named.map(Path::to_path_buf).or_else(on_path).or_else(installed).ok_or(ServerError::None)?;
    let output = Command::new(&path).arg("--version").output();
    let output = output.map_err(|error| ServerError::Io { path: path.clone(), error })?;
    let said = String::from_utf8_lossy(&output.stdout);
    let version = said.split_whitespace().last().unwrap_or_default();
    check_version(version).map_err(|text| ServerError::Version { path: path.clone(), text })?;
    Ok(path)
}

/// Writes the configuration of a fleet's server into its folder, and returns its path.
///
/// # Errors
/// It cannot be written.
pub fn configure(folder: &Folder) -> Result<PathBuf, ServerError> {
    let path = folder.path().join(CONFIGURATION);
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    let quoted = |path: PathBuf| serde_json::to_string(&absolute(path).display().to_string()).unwrap_or_default();
    let [certificate, key, auth] = folder.server_files().map(quoted);
    let store = quoted(folder.path().join("store"));
    let pid = quoted(folder.path().join("nats.pid"));
    let address = folder.address().trim_start_matches("tls://");
    let (host, port) = address.rsplit_once(':').unwrap_or((address, "4222"));
    // A server whose address is its own machine's listens to nobody else.
    let is_own =
        host == "localhost" || host.trim_matches(['[', ']']).parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    let any = if host.starts_with('[') { "[::]" } else { "0.0.0.0" };
    let listen = if is_own { host } else { any };
    // With the headers of a message.
    let largest = crate::courier::LARGEST + (64 << 10);
    let text = format!(
        "# Written by `host fleet serve`. What people may do is in auth.conf.\n\
         listen: \"{listen}:{port}\"\n\
         server_name: fleet\n\
         pid_file: {pid}\n\
         max_payload: {largest}\n\
         max_connections: 65536\n\
         include {auth}\n\
         tls {{ cert_file: {certificate}, key_file: {key}, min_version: \"1.3\", timeout: 10 }}\n\
         jetstream {{ store_dir: {store}, sync_interval: always, max_mem: 1GB }}\n"
    );
    // The one form of include takes a path from the folder of the file that has it.
    let text = text.replace(&format!("include {auth}"), "include ./auth.conf");
    std::fs::write(&path, text).map_err(|error| ServerError::Io { path: path.clone(), error })?;
    Ok(path)
}

/// A server that ends with this process.
pub struct Server {
    child: Child,
    log: PathBuf,
}

impl Server {
    /// Starts it. `through` is the program that becomes it, with the arguments that say so: see `die_with`.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(folder: &Folder, through: &Path, arguments: Vec<OsString>) -> Result<Server, ServerError> {
        let log = folder.path().join(LOG);
        let file = std::fs::File::options().create(true).append(true).open(&log);
        let file = file.map_err(|error| ServerError::Io { path: log.clone(), error })?;
        let errors = file.try_clone().map_err(|error| ServerError::Io { path: log.clone(), error })?;
        let child = Command::new(through)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(errors)
            .spawn()
            .map_err(|error| ServerError::Io { path: through.into(), error })?;
        Ok(Server { child, log })
    }

    /// # Errors
    /// It has ended, with the last of what it said.
    pub fn check(&mut self) -> Result<(), ServerError> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => {
                let log = std::fs::read_to_string(&self.log).unwrap_or_default();
                let last: Vec<&str> = log.lines().rev().take(3).collect();
                let last: Vec<&str> = last.into_iter().rev().collect();
                Err(ServerError::Ended(format!("{status}: {} (all of it: {})", last.join(" | "), self.log.display())))
            }
            Err(error) => Err(ServerError::Ended(error.to_string())),
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It is asked to end, so that what it has in memory reaches the disk.
        #[cfg(unix)]
        if let Some(pid) = rustix::process::Pid::from_raw(self.child.id() as i32) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let began = std::time::Instant::now();
        while began.elapsed() < std::time::Duration::from_secs(5) {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Has a running server of this folder read anew whom it lets in. `false`: none runs here.
pub fn reload(folder: &Folder) -> bool {
    #[cfg(unix)]
    {
        let pid =
            std::fs::read_to_string(folder.path().join("nats.pid")).ok().and_then(|text| text.trim().parse().ok());
        // The file outlives a server that was killed, and its number may be another process's by now.
        let is_it = |pid: &i32| match std::fs::read_to_string(format!("/proc/{pid}/cmdline")) {
            Ok(line) => line.contains(CONFIGURATION),
            Err(_) => !cfg!(target_os = "linux"),
        };
        let pid = pid.filter(is_it).and_then(rustix::process::Pid::from_raw);
        pid.is_some_and(|pid| rustix::process::kill_process(pid, rustix::process::Signal::HUP).is_ok())
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        false
    }
}

/// Has the kernel end this process when its parent ends, and checks that the parent is still the one that is meant. Whatever this process
/// becomes (`exec`) ends so too.
///
/// # Errors
/// The parent has ended already, or the system cannot do it.
pub fn die_with(parent: u32) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        let now = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get() as u32);
        if now != Some(parent) {
            return Err(io::Error::other("the process that started this one has ended"));
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = parent;
    Ok(())
}

/// This process becomes the server: it comes back only where that fails.
#[cfg(unix)]
pub fn become_server(program: &Path, configuration: &Path) -> io::Error {
    use std::os::unix::process::CommandExt;
    Command::new(program).arg("-c").arg(configuration).exec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_may_lose_what_it_has_acknowledged_is_refused() {
        for version in ["2.10.23", "2.12.8", "v2.15.1", "3.0.0", "2.11.0-beta.1"] {
            assert_eq!(check_version(version), Ok(()), "{version}");
        }
        for version in ["2.9.10", "2.10.22", "1.4.1", "", "weather"] {
            assert!(check_version(version).unwrap_err().contains("2.10.23"), "{version}");
        }
    }
}
