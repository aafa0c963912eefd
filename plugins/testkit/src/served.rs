//! Real servers of the Open Inference Protocol: `scripts/model-server`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server that serves these files. It ends with this value.
pub struct ModelServer {
    process: Child,
    pub url: String,
}

impl ModelServer {
    /// "mlserver" or "triton", with its models by name.
    ///
    /// # Errors
    /// Why there is none here.
    pub fn start(server: &str, models: &[(&str, &Path)]) -> Result<ModelServer, String> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/model-server");
        let models = models.iter().map(|(name, file)| format!("{name}={}", file.display()));
        let mut command = Command::new("python3");
        command.arg(script).arg(server).args(models).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("python3 cannot be started: {error}"))?;
        let mut url = String::new();
        let read = process.stdout.take().map(|out| BufReader::new(out).read_line(&mut url));
        if url.trim().is_empty() || !matches!(read, Some(Ok(_))) {
            let said = process
                .wait_with_output()
                .map_or_else(|error| error.to_string(), |it| String::from_utf8_lossy(&it.stderr).into());
            return Err(format!("{server} cannot be started: {}", said.trim()));
        }
        Ok(ModelServer { process, url: url.trim().into() })
    }
}

impl Drop for ModelServer {
    /// The script asks the server to end before it ends itself.
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status();
        let _ = self.process.wait();
    }
}
