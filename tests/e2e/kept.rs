//! Folders of runs under harm: killed hosts, damaged journals, folders that go away, and several hosts at once.

use crate::workers::{finished, hanging, hangs, signal, started, until, wait_for_hang};
use serde_json::Value;
use skillbench_tests::{Ran, World, cells, outcomes};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

const ONE: [&str; 8] = ["--plugin", "rten", "--model", "probe-mlp", "--bench", "inference", "--batch-sizes", "1,2"];

fn append(file: &Path, bytes: &[u8]) {
    use std::io::Write;
    std::fs::File::options().append(true).open(file).unwrap().write_all(bytes).unwrap();
}

fn lines(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("journal.ndjson")).unwrap().lines().count()
}

/// A run that hangs after two cells, with what it prints; and its folder.
fn hanging_for(world: &World, timeout: &str) -> (Child, PathBuf) {
    let mut command = hangs(world, timeout);
    command.env("SKILLBENCH_DATA", world.path().join("data")).stdout(Stdio::piped()).stderr(Stdio::piped());
    let host = started(&mut command);
    wait_for_hang(world, &host);
    (host, world.run_folder())
}

fn ended(host: Child) -> Ran {
    Ran(host.wait_with_output().unwrap())
}

#[test]
fn ten_hosts_at_once_in_one_folder_have_a_whole_run_each() {
    let world = World::default();
    let run = [&["run", "--no-lock", "--quiet", "--budget", "0.05"][..], &ONE].concat();
    let host = |_| started(world.command(&run).stdout(Stdio::null()).stderr(Stdio::piped()));
    let hosts: Vec<Child> = (0..10).map(host).collect();
    for host in hosts {
        ended(host).exits_with(0);
    }
    let folders: Vec<PathBuf> = std::fs::read_dir(world.path().join("results"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    assert_eq!(folders.len(), 10, "nothing else is left: {folders:?}");
    for folder in &folders {
        assert_eq!(lines(folder), 3, "{}", folder.display());
        let run: Value = serde_json::from_slice(&std::fs::read(folder.join("run.json")).unwrap()).unwrap();
        assert_eq!(run["run_id"].as_str(), folder.file_name().unwrap().to_str());
        assert_eq!(outcomes(&run), ["measured"; 2]);
    }
    let told = world.host(&["query", "SELECT run, cell FROM benchmark_results", "--format", "json"]);
    let rows: Vec<Value> = serde_json::from_str(&told.exits_with(0).stdout()).unwrap();
    assert_eq!(rows.len(), 20);
}

#[test]
fn a_run_is_written_by_one_host_at_a_time_and_goes_on_after_a_kill() {
    let world = World::default();
    let mut first = hanging(&world);
    wait_for_hang(&world, &first);
    let folder = world.run_folder();
    let resume = ["run", "--resume", folder.to_str().unwrap(), "--quiet", "--format", "json"];
    let named = format!("is being written by process {}", first.id());
    world.host(&resume).exits_with(2).tells(&named);
    signal("-KILL", first.id());
    first.wait().unwrap();

    // Two that go on with it at the same time: one does.
    let mut second = started(world.command(&resume).stdout(Stdio::null()).stderr(Stdio::null()));
    until("it measures again", || {
        std::fs::read_to_string(folder.join(".writer")).is_ok_and(|text| text.contains(&second.id().to_string()))
    });
    world.host(&resume).exits_with(2).tells("is being written by");
    wait_for_hang(&world, &second);
    signal("-INT", second.id());
    assert_eq!(second.wait().unwrap().code(), Some(130));
    assert_eq!((finished(&world), lines(&folder)), (2, 3), "nothing is lost, and nothing measured twice");
    assert!(!folder.join(".writer").exists());
}

#[test]
fn garbage_at_the_end_of_a_journal_is_set_aside_and_everybody_reads_the_rest() {
    let world = World::default();
    let (_, whole) = world.run(&ONE);
    let folder = world.run_folder();
    let journal = folder.join("journal.ndjson");
    let text = std::fs::read_to_string(&journal).unwrap();
    let kept: String = text.lines().take(2).map(|line| format!("{line}\n")).collect();
    std::fs::write(&journal, kept).unwrap();
    let garbage = b"{\"type\":\"cell\",\"cell\":{\"ind\0\0\0\0\xff\xfe\nmore of it";
    append(&journal, garbage);

    let (id, place) = (folder.file_name().unwrap().to_str().unwrap(), folder.to_str().unwrap());
    world.host(&["report", place, "--format", "csv"]).exits_with(0).tells("line 3 is left out");
    world.host(&["db", "import"]).exits_with(0).tells("line 3 is left out");
    let ran = world.host(&["run", "--resume", id, "--format", "json"]);
    ran.exits_with(0).tells("damaged bytes at its end were moved to").tells("journal.damaged-1");
    let resumed: Value = serde_json::from_str(&ran.stdout()).unwrap();
    assert_eq!(outcomes(&resumed), ["measured"; 2]);
    assert_eq!(cells(&resumed)[0], cells(&whole)[0]);
    assert_eq!(std::fs::read(folder.join("journal.damaged-1")).unwrap(), garbage);

    for again in [&["db", "import"][..], &["report", place, "--format", "csv"], &["run", "--resume", id]] {
        let ran = world.host(again);
        let said = ran.exits_with(0).stderr();
        assert!(!said.contains("left out") && !said.contains("damaged"), "{again:?}: {said}");
    }
}

#[test]
fn a_line_that_rotted_costs_its_own_cell() {
    let world = World::default();
    world.run(&ONE);
    let folder = world.run_folder();
    let journal = folder.join("journal.ndjson");
    let text = std::fs::read_to_string(&journal).unwrap();
    std::fs::write(&journal, text.replacen("\"index\":0", "\"index\":7", 1)).unwrap();
    let ran = world.host(&["run", "--resume", folder.to_str().unwrap(), "--format", "json"]);
    ran.exits_with(0).tells("line 2 is left out: its sum does not hold");
    let resumed: Value = serde_json::from_str(&ran.stdout()).unwrap();
    assert_eq!(outcomes(&resumed), ["measured"; 2]);
}

#[test]
fn a_folder_that_goes_away_in_the_middle_is_said_at_once_and_the_run_is_kept_all_the_same() {
    let world = World::default();
    let (host, folder) = hanging_for(&world, "4");
    std::fs::remove_dir_all(&folder).unwrap();
    let ran = ended(host);
    ran.exits_with(4).tells("the journal is gone").tells("the run goes on").tells("timed-out");
    assert_eq!(lines(&folder), 5, "a head and four cells");
    assert!(folder.join("run.json").is_file());
    world.host(&["db", "check"]).exits_with(0);
}

#[test]
fn a_run_whose_folder_cannot_be_made_again_is_written_elsewhere_and_the_place_is_named() {
    let world = World::default();
    let (host, folder) = hanging_for(&world, "4");
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, "a file has the name").unwrap();
    let rescued = world.path().join("data/rescued").join(folder.file_name().unwrap());
    ended(host).exits_with(4).tells("timed-out").tells(&format!("all of it is in {}", rescued.display()));
    assert_eq!(lines(&rescued), 5);
    assert!(rescued.join("run.json").is_file());
}

#[test]
fn what_a_killed_host_left_is_gone_when_the_next_one_starts() {
    let world = World::default();
    let cache = world.path().join("cache");
    let mut command = hangs(&world, "100");
    let mut host = started(command.env("SKILLBENCH_CACHE", &cache).stdout(Stdio::null()).stderr(Stdio::null()));
    wait_for_hang(&world, &host);
    let left = cache.join(".skillbench-tmp");
    assert!(left.is_dir(), "a cell has a cache of its own while it is measured");
    signal("-KILL", host.id());
    host.wait().unwrap();
    assert!(left.is_dir());
    Ran::of({
        let mut next = world.command(&["plugin", "list"]);
        next.env("SKILLBENCH_CACHE", &cache);
        next
    });
    assert!(!left.exists());
}

#[test]
fn a_folder_whose_name_is_no_text_is_refused_at_once() {
    let world = World::default();
    let mut command = world.command(&["run", "--output-dir"]);
    command.arg(OsStr::from_bytes(b"results-\xff")).args(ONE);
    let ran = Ran::of(command);
    ran.exits_with(2).tells("Unicode").tells("--results-dir");
    assert!(!world.path().join(OsStr::from_bytes(b"results-\xff")).exists());
}
