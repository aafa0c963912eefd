//! Processes: they end when they should, leave nothing behind, and what is finished is kept.

use skillbench_tests::{World, built_library, cells, outcomes, without_sums};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A run whose first two cells are quick and whose last two end at their time limit alone.
pub fn hangs(world: &World, timeout: &str) -> Command {
    let library = built_library("misbehave_fixture");
    world
        .write("config/registry.toml", format!("version = 1\n[[plugin]]\nid = \"misbehave\"\nlibrary = {library:?}\n"));
    let arguments = [
        "run",
        "--plugin",
        "rten,misbehave",
        "--model",
        "probe-mlp",
        "--bench",
        "inference",
        "--batch-sizes",
        "1,2",
        "--budget",
        "0.1",
        "--option",
        "misbehave:how=loop",
        "--timeout",
        timeout,
        "--quiet",
    ];
    world.command(&arguments)
}

/// One that never ends.
pub fn hanging(world: &World) -> Child {
    started(hangs(world, "100").stdout(Stdio::null()).stderr(Stdio::null()))
}

pub fn started(command: &mut Command) -> Child {
    command.spawn().expect("the host can be started")
}

/// All processes below one: workers are kept by a process in between.
fn children(pid: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let own = text.split_whitespace().flat_map(str::parse);
    own.flat_map(|child| std::iter::once(child).chain(children(child))).collect()
}

#[track_caller]
pub fn until(what: &str, mut test: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(30);
    while !test() {
        assert!(Instant::now() < patience, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Finished cells in the journal.
pub fn finished(world: &World) -> usize {
    let runs = std::fs::read_dir(world.path().join("results")).into_iter().flatten().flatten();
    let journals = runs.filter_map(|run| std::fs::read_to_string(run.path().join("journal.ndjson")).ok());
    journals.map(|text| text.lines().count().saturating_sub(1)).sum()
}

/// Waits until the first two cells are kept and the third one's worker hangs.
pub fn wait_for_hang(world: &World, host: &Child) -> Vec<u32> {
    until("two cells are kept", || finished(world) == 2);
    until("a worker runs the plugin that hangs", || {
        let maps = |pid: &u32| std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        children(host.id()).iter().any(|pid| maps(pid).contains("misbehave_fixture"))
    });
    children(host.id())
}

pub fn signal(name: &str, pid: u32) {
    let sent = Command::new("kill").args([name, &pid.to_string()]).status().expect("kill can be started");
    assert!(sent.success());
}

fn gone(pid: u32) -> bool {
    !Path::new(&format!("/proc/{pid}")).exists()
}

#[test]
fn ctrl_c_ends_a_run_cleanly_and_keeps_what_is_finished() {
    let world = World::default();
    let mut host = hanging(&world);
    let workers = wait_for_hang(&world, &host);
    signal("-INT", host.id());
    assert_eq!(host.wait().unwrap().code(), Some(130));
    until("no worker is left", || workers.iter().all(|pid| gone(*pid)));
    let folder = world.run_folder();
    assert!(folder.join("run.json").is_file(), "what was measured is there as a whole");
}

#[test]
fn a_host_that_is_killed_loses_no_finished_cell_and_leaves_no_worker() {
    let world = World::default();
    let mut host = hanging(&world);
    let workers = wait_for_hang(&world, &host);
    signal("-KILL", host.id());
    host.wait().unwrap();
    until("the workers died with their host", || workers.iter().all(|pid| gone(*pid)));
    assert_eq!(finished(&world), 2);
}

#[test]
fn a_resumed_run_measures_what_is_missing_and_nothing_twice() {
    let world = World::default();
    let one = ["--plugin", "rten", "--model", "probe-mlp", "--bench", "inference", "--batch-sizes", "1,2,4"];
    let (_, whole) = world.run(&one);
    let folder = world.run_folder();
    let journal = folder.join("journal.ndjson");
    let text = std::fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    // The last cell is lost, and the one before was being written when the power went.
    let cut = format!("{}\n{}\n{}", lines[0], lines[1], &lines[2][..lines[2].len() / 2]);
    std::fs::write(&journal, cut).unwrap();

    let ran = world.host(&["run", "--resume", folder.to_str().unwrap(), "--format", "json"]);
    let resumed: serde_json::Value = serde_json::from_str(&ran.exits_with(0).stdout()).unwrap();
    assert_eq!(outcomes(&resumed), ["measured"; 3]);
    assert_eq!(cells(&resumed)[0], cells(&whole)[0], "the finished cell is as it was");
    assert_ne!(cells(&resumed)[1]["metrics"], cells(&whole)[1]["metrics"], "the lost one was measured anew");
    let again = world.host(&["run", "--resume", folder.to_str().unwrap(), "--format", "json"]);
    let again: serde_json::Value = serde_json::from_str(&again.exits_with(0).stdout()).unwrap();
    assert_eq!(again, resumed, "with nothing missing, nothing is measured");
}

#[test]
fn a_run_is_not_resumed_with_other_plugins() {
    let world = World::default();
    world.run(&["--plugin", "rten", "--model", "probe-mlp", "--verify-only", "--batch-sizes", "1"]);
    let folder = world.run_folder();
    let journal = folder.join("journal.ndjson");
    let text = std::fs::read_to_string(&journal).unwrap();
    let head: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let hash = head["run"]["environment"]["plugin_sha256"]["rten"].as_str().unwrap();
    std::fs::write(&journal, without_sums(&text).replace(hash, &"0".repeat(64))).unwrap();
    world.host(&["run", "--resume", folder.to_str().unwrap()]).exits_with(2).tells("'rten' is not the one");
}

#[test]
fn workers_inherit_no_descriptor_but_their_channel() {
    let world = World::default();
    let mut host = hanging(&world);
    let workers = wait_for_hang(&world, &host);
    let links = |pid: u32| -> Vec<String> {
        let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        files.filter_map(|file| std::fs::read_link(file.path()).ok()).map(|link| link.display().to_string()).collect()
    };
    for pid in &workers {
        let open = links(*pid);
        assert!(open.iter().all(|link| !link.contains("journal")), "the journal leaked: {open:?}");
        let sockets = open.iter().filter(|link| link.starts_with("socket")).count();
        assert!(sockets <= 2 + 1, "the channel, and copies of it: {open:?}");
    }
    signal("-INT", host.id());
    host.wait().unwrap();
}

#[test]
fn no_zombie_is_left_while_a_run_goes_on() {
    let world = World::default();
    let mut host = hanging(&world);
    wait_for_hang(&world, &host);
    let state = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let zombies = children(host.id()).into_iter().filter(|pid| state(*pid).contains(") Z ")).count();
    assert_eq!(zombies, 0);
    signal("-INT", host.id());
    host.wait().unwrap();
}
