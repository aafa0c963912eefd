//! What becomes of a browser whose worker is stopped, or killed without a chance to clean up. The worker is this test's own
//! program once more.

use super::{answer, bound, open, probe_on};
use std::io::{BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const WORKER: &str = "killed::a_worker_for_other_tests";

/// Runs for a while, and says where its browser is.
#[test]
#[ignore = "other tests start and end it"]
fn a_worker_for_other_tests() {
    let (instance, engine) = open(&[]);
    let model = instance.load(&probe_on(0)).unwrap();
    let before = answer(&model);
    let arguments = std::fs::read_to_string(format!("/proc/{}/cmdline", engine.process_id())).unwrap();
    let profile = arguments.split('\0').find_map(|part| part.strip_prefix("--user-data-dir=")).unwrap();
    println!("\nbrowser {} {profile}", engine.process_id());
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(3) {
        bound(&model).run().unwrap();
    }
    assert_eq!(answer(&instance.load(&probe_on(0)).unwrap()), before);
}

struct Worker {
    child: Child,
    /// The browser's entry in the table of processes.
    browser: PathBuf,
    /// All that it has of its own.
    folder: PathBuf,
}

/// Starts it in a group of its own, as the host does.
fn worker() -> Worker {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", WORKER]).process_group(0);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let line = lines.find(|line| line.starts_with("browser ")).unwrap();
    let (pid, profile) = line.strip_prefix("browser ").unwrap().split_once(' ').unwrap();
    let worker = Worker {
        child,
        browser: Path::new("/proc").join(pid),
        folder: Path::new(profile).parent().unwrap().to_path_buf(),
    };
    // It goes on printing.
    thread::spawn(move || lines.for_each(drop));
    assert!(worker.browser.exists() && worker.folder.join("in-use").exists());
    worker
}

fn signal(target: &str, signal: &str) {
    assert!(Command::new("kill").args([signal, "--", target]).status().unwrap().success());
}

fn leaves_nothing(mut worker: Worker, target: &str) {
    signal(target, "-KILL");
    assert_eq!(worker.child.wait().unwrap().signal(), Some(9));
    let died = Instant::now();
    while worker.browser.exists() || worker.folder.exists() {
        assert!(died.elapsed() < Duration::from_secs(8), "{:?} {:?} are left", worker.browser, worker.folder);
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_killed_worker_leaves_neither_browser_nor_folder() {
    let worker = worker();
    let target = worker.child.id().to_string();
    leaves_nothing(worker, &target);
}

#[test]
fn a_killed_process_group_leaves_neither_browser_nor_folder() {
    let worker = worker();
    let target = format!("-{}", worker.child.id());
    leaves_nothing(worker, &target);
}

#[test]
fn a_worker_that_is_stopped_and_continued_goes_on() {
    let mut worker = worker();
    let target = worker.child.id().to_string();
    for _ in 0..20 {
        signal(&target, "-STOP");
        thread::sleep(Duration::from_millis(30));
        signal(&target, "-CONT");
        thread::sleep(Duration::from_millis(30));
    }
    assert!(worker.child.wait().unwrap().success());
}
