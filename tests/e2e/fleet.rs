//! A fleet on one machine: its server, two agents with names and locks of their own, and a submitter.

use serde_json::Value;
use skillbench_tests::{Ran, World, cells, outcomes};
use std::fs::File;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// A cell that takes no time.
const QUICK: [&str; 6] = ["--bench", "inference", "--batch-sizes", "1", "--budget", "0.05"];

/// A part of a fleet that runs until the test ends.
pub struct Part {
    child: Child,
    log: PathBuf,
}

impl Part {
    pub fn start(world: &World, name: &str, arguments: &[&str]) -> Part {
        Part::start_as(world, name, arguments, &[])
    }

    /// With these variables of the environment, which lead to folders here.
    pub fn start_as(world: &World, name: &str, arguments: &[&str], folders: &[(&str, &str)]) -> Part {
        let log = world.path().join(format!("{name}.log"));
        let file = File::create(&log).unwrap();
        let mut command = world.command(arguments);
        command.env("SKILLBENCH_LOCK", world.path().join(format!("{name}.lock")));
        for (variable, folder) in folders {
            command.env(variable, world.path().join(folder));
        }
        let child = command.stdout(file.try_clone().unwrap()).stderr(file).spawn().unwrap();
        Part { child, log }
    }

    /// Waits until it says so.
    pub fn says(self, text: &str) -> Part {
        let began = Instant::now();
        while !std::fs::read_to_string(&self.log).unwrap().contains(text) {
            let told = std::fs::read_to_string(&self.log).unwrap();
            assert!(began.elapsed() < Duration::from_secs(90), "it never said '{text}': {told}");
            std::thread::sleep(Duration::from_millis(50));
        }
        self
    }

    pub fn ends_with(mut self, code: i32) {
        let began = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < Duration::from_secs(60), "it did not end");
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(self.child.wait().unwrap().code(), Some(code), "{}", std::fs::read_to_string(&self.log).unwrap());
    }
}

impl Part {
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // Asked to end, so that it takes what it started with it.
            self.signal("CONT");
            self.signal("TERM");
        }
        let _ = self.child.wait();
    }
}

/// A world with data of its own, in which the user's runtimes are.
pub fn world() -> World {
    let world = World::apart();
    std::fs::create_dir(world.path().join("data")).unwrap();
    let runtimes = skillbench_record::paths::data().join("runtimes");
    std::os::unix::fs::symlink(runtimes, world.path().join("data/runtimes")).unwrap();
    world
}

/// A fleet called lab, served.
pub fn lab(world: &World) -> Part {
    lab_on(world, &[])
}

/// On a server that is started so.
pub fn lab_on(world: &World, serve: &[&str]) -> Part {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    world.host(&["fleet", "init", "lab", "--address", &format!("127.0.0.1:{port}")]).exits_with(0);
    Part::start(world, "serve", &[&["fleet", "serve", "lab"][..], serve].concat()).says("serves the fleet")
}

pub fn agent(world: &World, name: &str, plugins: &str) -> Part {
    world.host(&["fleet", "user", "lab", name, "--role", "agent"]).exits_with(0);
    let arguments = ["fleet", "agent", &format!("{name}.fleet"), "--plugin", plugins];
    Part::start(world, name, &arguments).says("is ready")
}

fn run(world: &World, more: &[&str]) -> Ran {
    world.host(&[&["run", "--fleet", "lab"][..], &QUICK, more].concat())
}

pub fn documents(ran: &Ran) -> Vec<Value> {
    serde_json::from_str(&ran.stdout()).unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout(), ran.stderr()))
}

#[test]
fn one_submission_is_measured_on_two_machines_and_kept_as_the_run_of_each() {
    let world = world();
    let _server = lab(&world);
    let (_h1, _h2) = (agent(&world, "h1", "rten,openvino"), agent(&world, "h2", "qnn"));
    world.host(&["fleet", "agents"]).exits_with(0).tells("h1").tells("openvino").tells("h2").tells("±");
    world.host(&["fleet", "devices"]).exits_with(0).tells("its agent measures on other backends");

    let asked =
        ["--plugin", "rten,openvino,qnn", "--model", "bert-tiny", "--sequence-lengths", "32", "--format", "json"];
    let runs = documents(run(&world, &asked).exits_with(0));
    assert_eq!(runs.len(), 2);
    for (document, (machine, plugins)) in runs.iter().zip([("h1", vec!["rten", "openvino"]), ("h2", vec!["qnn"])]) {
        let fleet = &document["environment"]["fleet"];
        assert_eq!((fleet["fleet"].as_str(), fleet["machine"].as_str()), (Some("lab"), Some(machine)));
        let mut found: Vec<&str> = cells(document).iter().map(|cell| cell["plugin"].as_str().unwrap()).collect();
        found.sort_by_key(|plugin| plugins.iter().position(|known| known == plugin));
        assert_eq!(found, plugins);
        assert!(outcomes(document).iter().all(|outcome| *outcome == "measured"), "{document}");
        assert!(cells(document).iter().all(|cell| cell["verification"].is_object()), "{document}");
    }
    let id = runs[0]["environment"]["fleet"]["submission"].as_str().unwrap();
    world.host(&["fleet", "verify", id]).exits_with(0).tells("3 cells: 0 lost, 0 twice, 0 not as signed");
    world.host(&["fleet", "status"]).exits_with(0).tells(id).tells("ended");
    world.host(&["fleet", "outliers", id]).exits_with(0).tells("too few peers");
    world.host(&["fleet", "outliers", &id[..8]]).exits_with(2).tells("has no runs of");
    world.host(&["fleet", "outliers", "20260131-120000-00000000"]).exits_with(2).tells("has no runs of");
    world.host(&["matrix"]).exits_with(0).tells("openvino").tells("qnn");
    world.host(&["report"]).exits_with(0);

    // A second collector has the same, and a run that somebody changed is known.
    world.host(&["fleet", "follow", id, "--results-dir", "again"]).exits_with(0);
    world.host(&["fleet", "verify", id, "--results-dir", "again"]).exits_with(0);
    let journal = world.path().join(format!("again/{id}-h1/journal.ndjson"));
    let text = std::fs::read_to_string(&journal).unwrap();
    let first_cell = text.lines().nth(1).unwrap().to_string();
    std::fs::write(&journal, text.replace(&first_cell, &first_cell.replace("\"median\":", "\"median\":0."))).unwrap();
    world.host(&["fleet", "verify", id, "--results-dir", "again"]).exits_with(1).tells("lost");
}

#[test]
fn what_a_fleet_cannot_do_is_said_before_anything_is_sent() {
    let world = world();
    let model = world.write("mine.onnx", "no model");
    for (arguments, text) in [
        (vec!["run", "--fleet", "nowhere"], "there is no fleet 'nowhere'"),
        (vec!["run", "--on", "h1"], "--fleet"),
        (vec!["fleet", "serve", "nothing"], "is no folder of a fleet"),
        (vec!["fleet", "agents"], "no fleet is known here"),
        (vec!["fleet", "follow", "20260131-120000-00000000", "--no-lock"], "where a submission is collected"),
        (vec!["fleet", "init", "lab", "--address", "a b"], "is no address"),
    ] {
        world.host(&arguments).exits_with(2).tells(text);
    }
    let _server = lab(&world);
    run(&world, &["--plugin", "rten", "--model", "probe-mlp"]).exits_with(2).tells("no agent is there");
    let h1 = agent(&world, "h1", "rten");
    run(&world, &["--plugin", "rten", "--model", model.to_str().unwrap()]).exits_with(2).tells("mine.onnx");
    run(&world, &["--plugin", "rten", "--model", "probe-mlp", "--on", "h9"]).exits_with(2).tells("no agent 'h9'");
    run(&world, &["--plugin", "rten", "--model", "probe-mlp", "--where", "gpu"]).exits_with(2).tells("KEY=VALUE");
    run(&world, &["--plugin", "qnn", "--model", "probe-mlp"])
        .exits_with(5)
        .tells("its agent measures on other backends");
    run(&world, &["--plugin", "rten", "--model", "probe-mlp", "--baseline", "main"]).exits_with(2);
    world.host(&["fleet", "why", "rten", "probe-mlp"]).exits_with(0).tells("yes");
    world.host(&["fleet", "why", "qnn"]).exits_with(5).tells("its agent measures on other backends");
    world.host(&["fleet", "why", "rten", "no-such-model"]).exits_with(2).tells("there is no model");
    // A machine that does not come is waited for, and no longer than was said.
    let asked = ["--plugin", "qnn", "--model", "probe-mlp", "--wait", "2"];
    run(&world, &asked).exits_with(5).tells("machines are waited for");
    // A pass that cannot ask, and one that is worth nothing any more.
    world.host(&["fleet", "user", "lab", "v", "--role", "viewer"]).exits_with(0);
    world.host(&["run", "--fleet", "v.fleet", "--plugin", "rten"]).exits_with(2).tells("needs one of a submitter");
    world.host(&["fleet", "agents", "--fleet", "v.fleet"]).exits_with(0).tells("h1");
    world.host(&["fleet", "revoke", "lab", "v"]).exits_with(0).tells("the server was told");
    let began = Instant::now();
    while world.host(&["fleet", "agents", "--fleet", "v.fleet"]).code() == Some(0) {
        assert!(began.elapsed() < Duration::from_secs(20), "a revoked pass is let in");
    }
    world.host(&["fleet", "agents", "--fleet", "v.fleet"]).exits_with(1).tells("is not let in");
    // A second agent of the name waits for its turn; the first ends when it is asked to.
    let second = Part::start(&world, "second", &["fleet", "agent", "h1.fleet", "--plugin", "rten"]);
    let second = second.says("an agent is called h1 already");
    world.host(&["fleet", "drain", "h1"]).exits_with(0);
    h1.ends_with(0);
    drop(second.says("is ready"));
}

#[test]
fn a_submission_can_be_left_looked_at_taken_back_and_collected() {
    let world = world();
    let _server = lab(&world);
    let h1 = agent(&world, "h1", "rten");
    // A machine counts as there for a while after its last sign of life.
    h1.signal("STOP");
    let ran = run(&world, &["--plugin", "rten", "--model", "probe-mlp", "--detach"]);
    let id = ran.exits_with(0).stdout().trim().to_string();
    world.host(&["fleet", "status", &id]).exits_with(0).tells("running");
    world.host(&["fleet", "cancel", &id]).exits_with(0).tells("1 lots");
    let followed = world.host(&["fleet", "follow", &id, "--format", "json"]);
    let document = &documents(&followed)[0];
    assert_eq!(outcomes(document), ["skipped"]);
    assert_eq!(cells(document)[0]["reason"]["code"], "cancelled");
    followed.exits_with(4);
    world.host(&["fleet", "status", "20260131-120000-00000000"]).exits_with(2).tells("there is no submission");

    // What was taken back can be had after all, in the place of what was said of it.
    world.host(&["fleet", "resume", &id]).exits_with(0).tells("1 lots");
    world.host(&["fleet", "collect", &id]).exits_with(0).tells("0 of 1 cells have ended");
    h1.signal("CONT");
    let began = Instant::now();
    while !world.host(&["fleet", "status", &id, "--format", "json"]).stdout().contains(r#""state": "ended""#) {
        assert!(began.elapsed() < Duration::from_secs(90), "it was not measured");
    }
    world.host(&["fleet", "collect"]).exits_with(0).tells("1 submissions were collected");
    let followed = world.host(&["fleet", "follow", &id, "--format", "json"]);
    assert_eq!(outcomes(&documents(followed.exits_with(0))[0]), ["measured"]);
    world.host(&["fleet", "verify", &id]).exits_with(0).tells("1 cells: 0 lost, 0 twice");
    world.host(&["fleet", "resume", &id]).exits_with(0).tells("nothing to measure");
    world.host(&["query", "SELECT outcome FROM benchmark_results"]).exits_with(0).tells("measured");

    let ran = run(&world, &["--plugin", "rten", "--model", "probe-mlp", "--detach"]);
    let id = ran.exits_with(0).stdout().trim().to_string();
    let followed = world.host(&["fleet", "follow", &id, "--format", "json"]);
    assert_eq!(outcomes(&documents(followed.exits_with(0))[0]), ["measured"]);

    // All that has ended is collected, and what is kept is left alone.
    world.host(&["fleet", "collect", "--results-dir", "all"]).exits_with(0).tells("2 submissions");
    world.host(&["fleet", "verify", &id, "--results-dir", "all"]).exits_with(0);
    world.host(&["fleet", "collect", "--results-dir", "all"]).exits_with(0).tells("0 submissions");
}

#[test]
fn submissions_take_turns_on_a_machine_and_a_higher_priority_comes_first() {
    let world = world();
    let _server = lab(&world);
    let h1 = agent(&world, "h1", "rten");
    h1.signal("STOP");
    let ask = |models: &str, priority: &str| {
        let asked = ["--plugin", "rten", "--model", models, "--sequence-lengths", "32", "--detach"];
        let asked = run(&world, &[&asked[..], &["--priority", priority]].concat()).exits_with(0).stdout();
        asked.trim().to_string()
    };
    let (one, other) = (ask("probe-mlp,bert-tiny", "0"), ask("probe-mlp,bert-tiny", "-3"));
    let urgent = ask("probe-mlp", "7");
    world.host(&["fleet", "status", &urgent]).exits_with(0).tells("7");
    world.host(&["fleet", "priority", &other, "0"]).exits_with(0).tells("has priority 0");
    world.host(&["fleet", "priority", &other, "101"]).exits_with(2);
    world.host(&["fleet", "priority", "20260131-120000-00000000", "1"]).exits_with(2).tells("there is no submission");
    h1.signal("CONT");
    for id in [&one, &other, &urgent] {
        world.host(&["fleet", "follow", id]).exits_with(0);
    }
    let told = std::fs::read_to_string(&h1.log).unwrap();
    let lots = told.lines().filter_map(|line| line.strip_prefix("lot ")?.split_once(" of "));
    let lots: Vec<(&str, &str)> = lots.filter_map(|(lot, rest)| Some((lot, rest.split_once(',')?.0))).collect();
    let order: Vec<&str> = lots.iter().map(|(_, of)| *of).collect();
    assert!(lots.iter().rev().take(2).all(|(lot, _)| *lot == "1"), "the lots of each come in order: {told}");
    assert_eq!(order.first(), Some(&&*urgent), "{told}");
    assert!(order.len() == 5 && order[1..].windows(2).all(|pair| pair[0] != pair[1]), "{told}");
}

#[test]
fn models_are_dealt_out_over_machines_of_one_class() {
    let world = world();
    let _server = lab(&world);
    let (_h1, _h2) = (agent(&world, "h1", "rten"), agent(&world, "h2", "rten"));
    let asked = ["--plugin", "rten", "--model", "probe-mlp,bert-tiny", "--sequence-lengths", "32", "--format", "json"];
    let runs = documents(run(&world, &[&asked[..], &["--spread"]].concat()).exits_with(0));
    let models: Vec<Vec<&str>> =
        runs.iter().map(|run| cells(run).iter().map(|cell| cell["skill"].as_str().unwrap()).collect()).collect();
    assert_eq!(models, [["probe-mlp"], ["bert-tiny"]]);
    run(&world, &[&asked[..], &["--spread", "--on", "each-machine"]].concat()).exits_with(2).tells("--spread");
}

#[test]
fn what_a_machine_that_is_gone_left_undone_is_measured_on_another_of_its_class() {
    let world = world();
    let _server = lab(&world);
    let h1 = agent(&world, "h1", "rten");
    let asked = ["--plugin", "rten", "--model", "probe-mlp,bert-tiny", "--sequence-lengths", "32", "--detach"];
    h1.signal("STOP");
    let id = run(&world, &asked).exits_with(0).stdout().trim().to_string();
    h1.signal("KILL");
    let _h2 = agent(&world, "h2", "rten");
    let followed = world.host(&["fleet", "follow", &id, "--failover", "20", "--format", "json"]);
    let runs = documents(followed.exits_with(0).tells("h1 is given up: 2 of its cells are measured on h2"));
    let of = |run: &Value| run["environment"]["fleet"]["machine"].as_str().unwrap().to_string();
    assert_eq!(runs.iter().map(of).collect::<Vec<_>>(), ["h1", "h2"]);
    assert_eq!(outcomes(&runs[0]), ["skipped", "skipped"]);
    assert_eq!(cells(&runs[0])[0]["reason"]["code"], "failed-over");
    assert_eq!(outcomes(&runs[1]), ["measured", "measured"]);
    world.host(&["fleet", "status", &id]).exits_with(0).tells("moved to");
    world.host(&["fleet", "verify", &id]).exits_with(0).tells("2 cells: 0 lost, 0 twice");
    // Whoever follows it without the flag finds where it went.
    world.host(&["fleet", "follow", &id, "--results-dir", "again"]).exits_with(0).tells("h2");
    // A machine that comes back does not begin with it.
    let h1 = Part::start(&world, "h1", &["fleet", "agent", "h1.fleet", "--plugin", "rten", "--idle-exit", "2"]);
    h1.ends_with(0);
    world.host(&["fleet", "resume", &id]).exits_with(0).tells("nothing to measure");
}

#[test]
fn what_starts_agents_is_printed_for_whoever_starts_them() {
    let world = world();
    world.host(&["fleet", "init", "lab", "--quiet"]).exits_with(0);
    for (name, role) in [("h1", "agent"), ("cluster", "site"), ("v", "viewer")] {
        world.host(&["fleet", "user", "lab", name, "--role", role, "--quiet"]).exits_with(0);
    }
    let pass = std::fs::read_to_string(world.path().join("h1.fleet")).unwrap();
    world.write("odd.fleet", pass.replace("fleet = \"lab\"", "fleet = \"lab\\ntouch x\""));
    let agent = ["--plugin", "rten", "--label", "rack=a 3", "--sandbox", "strict"];
    let slurm = ["fleet", "launch", "slurm", "cluster.fleet", "--nodes", "4", "--sbatch", "partition=gpu"];
    let script = world.host(&[&slurm[..], &agent].concat()).exits_with(0).stdout();
    for part in [
        "#SBATCH --array=0-3",
        "#SBATCH --partition=gpu",
        "cluster.fleet",
        "--label 'rack=a 3'",
        "--idle-exit 600",
        "--sandbox strict",
    ] {
        assert!(script.contains(part), "{part}: {script}");
    }
    let checked = Command::new("sh").arg("-n").arg(world.write("agents.sh", &script)).status();
    assert!(checked.unwrap().success());
    world.host(&["fleet", "launch", "systemd", "h1.fleet"]).exits_with(0).tells("h1.fleet\"");
    world.host(&["fleet", "launch", "ssh", "h1.fleet", "h1"]).exits_with(0).tells("for machine in h1; do");
    let manifest = ["fleet", "launch", "kubernetes", "cluster.fleet", "skillbench:1"];
    world.host(&manifest).exits_with(0).tells(r#"image: "skillbench:1""#);

    for (arguments, text) in [
        (vec!["slurm", "h1.fleet"], "several machines need one of a site"),
        (vec!["ssh", "h1.fleet", "h1", "h2"], "several machines need one of a site"),
        (vec!["systemd", "v.fleet"], "agents need one of an agent or a site"),
        (vec!["slurm", "nothing.fleet"], "nothing.fleet"),
        (vec!["slurm", "cluster.fleet", "--sbatch", "a b"], "is no option of sbatch"),
        (vec!["slurm", "cluster.fleet", "--nodes", "0"], "nodes"),
        (vec!["kubernetes", "cluster.fleet", "i", "--resource", "gpu"], "NAME=COUNT"),
        (vec!["ssh", "h1.fleet", "a b"], "no machine that ssh could reach"),
        (vec!["ssh", "h1.fleet", "h1", "--search-path", "here"], "do not see"),
        (vec!["systemd", "odd.fleet"], "cannot be a name in a fleet"),
    ] {
        world.host(&[&["fleet", "launch"][..], &arguments].concat()).exits_with(2).tells(text);
    }
}

#[test]
fn a_server_that_loses_its_disk_in_the_middle_is_filled_again() {
    let world = world();
    let server = lab(&world);
    let _h1 = agent(&world, "h1", "rten");
    let batches = (1..=16).map(|size| size.to_string()).collect::<Vec<_>>().join(",");
    let asked = [
        "run",
        "--fleet",
        "lab",
        "--plugin",
        "rten",
        "--model",
        "probe-mlp",
        "--bench",
        "inference",
        "--budget",
        "0.3",
    ];
    let submitter = Part::start(&world, "submitter", &[&asked[..], &["--batch-sizes", &batches]].concat());
    let submitter = submitter.says("[3/16]");
    drop(server);
    std::fs::remove_dir_all(world.path().join("lab/store")).unwrap();
    let _server = Part::start(&world, "serve", &["fleet", "serve", "lab"]).says("serves the fleet");
    submitter.ends_with(0);
    let run = world.run_folder();
    let id = run.file_name().unwrap().to_str().unwrap().trim_end_matches("-h1");
    world.host(&["fleet", "verify", id]).exits_with(0).tells("16 cells: 0 lost, 0 twice, 0 not as signed");
}
