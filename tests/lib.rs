//! What end-to-end tests share: the real `host` in a world of its own, and the libraries it is given.

use serde_json::Value;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Longer than any command of a test takes, also on a slow machine. One that hangs fails with its name in place of stopping all tests.
const LIMIT: Duration = Duration::from_secs(600);

/// The folder that holds `host` and the plugins of this build: `target/release`.
pub fn build_folder() -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    let folder = test.ancestors().nth(2).expect("tests run in target/PROFILE/deps");
    assert!(folder.join("host").is_file(), "build first: scripts/setup");
    folder.to_path_buf()
}

/// The root of the workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the workspace").to_path_buf()
}

/// A library that this build made, by its crate's library name.
pub fn built_library(name: &str) -> PathBuf {
    let file = format!("{}{name}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let path = build_folder().join(file);
    assert!(path.is_file(), "build first: scripts/setup makes {}", path.display());
    path
}

/// A folder of its own for configuration and results. The caches and the runtimes are shared with the user, since they only save
/// time.
pub struct World {
    folder: tempfile::TempDir,
    is_apart: bool,
}

impl Default for World {
    fn default() -> World {
        World { folder: tempfile::tempdir().expect("a temporary folder can be made"), is_apart: false }
    }
}

impl World {
    /// With data of its own: baselines and noise floors of the user, or of other tests, count for nothing here. Runtimes are not here.
    pub fn apart() -> World {
        World { is_apart: true, ..World::default() }
    }

    /// Does what a line of cron's says, as cron would.
    pub fn as_cron_runs(&self, line: &str) -> Ran {
        let command = line.trim().splitn(6, ' ').nth(5).expect("five times and a command").replace("\\%", "%");
        self.shell(&command)
    }

    /// A line of a shell, here: hosts that it starts find what [`World::command`] finds.
    pub fn shell(&self, line: &str) -> Ran {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(self.path());
        for (name, value) in self.command(&[]).get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        Ran::of(shell)
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file below the world's folder.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it lies in the world")).expect("folders can be made");
        std::fs::write(&path, text).expect("files can be written");
        path
    }

    /// The host, ready to run here.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(build_folder().join("host"));
        command.args(arguments).current_dir(self.path());
        command.env("SKILLBENCH_CONFIG", self.path().join("config"));
        command.env_remove("SKILLBENCH_REGISTRY").env_remove("SKILLBENCH_PLUGIN_PATH");
        command.env_remove("BENCHMARK_DB_PATH");
        // A test that says nothing of the terminal runs in a pipe.
        command.env_remove("COLUMNS").env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR");
        // What cargo and the plugins' own tests set, no user has.
        command.env_remove("LD_LIBRARY_PATH").env_remove("ORT_DYLIB_PATH").env_remove("OPENVINO_LIB_PATH");
        if self.is_apart {
            command.env("SKILLBENCH_DATA", self.path().join("data"));
        }
        // Worlds do not wait for each other.
        command.env("SKILLBENCH_LOCK", self.path().join("lock"));
        command
    }

    pub fn host(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments))
    }

    /// `host run ... --format json`, with its document.
    pub fn run(&self, arguments: &[&str]) -> (Ran, Value) {
        let arguments: Vec<&str> =
            ["run", "--format", "json", "--budget", "0.1"].iter().chain(arguments).copied().collect();
        let ran = self.host(&arguments);
        let document =
            serde_json::from_str(&ran.stdout()).unwrap_or_else(|e| panic!("no document: {e}\n{}", ran.stderr()));
        (ran, document)
    }

    /// The folder of the only run that was made here.
    pub fn run_folder(&self) -> PathBuf {
        let mut runs: Vec<PathBuf> = std::fs::read_dir(self.path().join("results"))
            .expect("there are results")
            .flatten()
            .map(|e| e.path())
            .filter(|path| path.is_dir())
            .collect();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs.remove(0)
    }
}

/// # Panics
/// Where the command does not start, or is still running at the limit: with everything that it printed until then.
#[track_caller]
fn output_within(mut command: Command, limit: Duration) -> Output {
    fn reader(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = from.read_to_end(&mut bytes);
            bytes
        })
    }
    fn ended(child: &mut Child, limit: Duration) -> bool {
        let started = Instant::now();
        while started.elapsed() < limit {
            if child.try_wait().expect("a child can be asked").is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        false
    }
    let mut child = command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the host can be started");
    let stdout = reader(child.stdout.take().expect("it is piped"));
    let stderr = reader(child.stderr.take().expect("it is piped"));
    let in_time = ended(&mut child, limit);
    if !in_time {
        // With all that it started: whoever is left holds the pipes.
        let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
        let _ = child.kill();
    }
    let status = child.wait().expect("a child can be waited for");
    let output = Output {
        status,
        stdout: stdout.join().expect("a reader does not panic"),
        stderr: stderr.join().expect("a reader does not panic"),
    };
    let said = || String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(in_time, "{command:?} was still running after {limit:?}:\n{}", said());
    output
}

/// A command that has ended.
pub struct Ran(pub Output);

impl Ran {
    /// # Panics
    /// Where the command does not start or does not end.
    #[track_caller]
    pub fn of(command: Command) -> Ran {
        Ran(output_within(command, LIMIT))
    }

    pub fn code(&self) -> Option<i32> {
        self.0.status.code()
    }

    pub fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    /// # Panics
    /// Where the exit code is another one, with everything that was printed.
    #[track_caller]
    pub fn exits_with(&self, code: i32) -> &Ran {
        assert_eq!(self.code(), Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout(), self.stderr());
        self
    }

    /// # Panics
    /// Where stdout and stderr together lack the text.
    #[track_caller]
    pub fn tells(&self, text: &str) -> &Ran {
        let all = self.stdout() + &self.stderr();
        assert!(all.contains(text), "'{text}' is not in:\n{all}");
        self
    }
}

/// A journal as hosts wrote it before its lines had sums: what a test changes in it is read as it stands.
pub fn without_sums(journal: &str) -> String {
    let without = |line: &str| line.rfind(",\"sum\":\"").map_or(line.to_string(), |sum| format!("{}}}", &line[..sum]));
    journal.lines().map(|line| without(line) + "\n").collect()
}

/// The cells of a run's document.
pub fn cells(document: &Value) -> &Vec<Value> {
    document["cells"].as_array().expect("a document has cells")
}

/// "measured", "failed", ... of each cell.
pub fn outcomes(document: &Value) -> Vec<&str> {
    cells(document).iter().map(|cell| cell["outcome"].as_str().unwrap_or("")).collect()
}
