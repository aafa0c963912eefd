//! What is run again: schedules, cells that are missing or stale, and one benchmark at a time.

use serde_json::Value;
use skillbench_tests::{Ran, World, cells, outcomes, without_sums};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SUITE: &str =
    r#"{"batch_sizes": [1, 2], "hardware_types": ["rten"], "model_families": {"embedding": ["probe-mlp"]}}"#;

/// A run of a model that takes no time.
const QUICK: [&str; 8] = ["--plugin", "rten", "--model", "probe-mlp", "--bench", "inference", "--batch-sizes", "1,2"];

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.exits_with(0).stdout()).unwrap_or_else(|error| panic!("{error}: {}", ran.stdout()))
}

fn sql(world: &World, sql: &str) -> Vec<Value> {
    let Value::Array(rows) = json(&world.host(&["query", sql, "--format", "json"])) else { panic!("rows") };
    rows
}

/// How many runs the database has.
fn runs(world: &World) -> i64 {
    sql(world, "SELECT count(*) AS n FROM runs")[0]["n"].as_i64().unwrap()
}

/// Whether systemd's own judgement of units can be had; where it cannot, that is said.
fn systemd_analyze() -> Option<Command> {
    let there = Command::new("systemd-analyze").arg("--version").stdout(Stdio::null()).status();
    match there.is_ok_and(|status| status.success()) {
        true => Some(Command::new("systemd-analyze")),
        false => {
            eprintln!("not tried: systemd-analyze is not on this machine, so that nobody verifies the units");
            None
        }
    }
}

#[test]
fn systemd_accepts_the_units_of_every_frequency_and_of_odd_paths() {
    let world = World::default();
    for folder in ["plain", "with space 100% $HOME it's"] {
        let folder = world.path().join(folder);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("my suite.json"), SUITE).unwrap();
        for frequency in ["hourly", "daily", "weekly", "monthly"] {
            let units = folder.join(frequency);
            let asked = ["schedule", "my suite.json", "--systemd", "--frequency", frequency, "--time", "03:15"];
            let mut host = world.command(&asked);
            host.arg("--output").arg(&units).args(["--", "--incremental", "--lock-wait", "60"]).current_dir(&folder);
            Ran::of(host).exits_with(0);
            let Some(mut analyze) = systemd_analyze() else { return };
            let files: Vec<_> = std::fs::read_dir(&units).unwrap().map(|entry| entry.unwrap().path()).collect();
            assert_eq!(files.len(), 2);
            // Without a session of its own systemd has no folder for what runs.
            let runtime = world.path().join("runtime");
            std::fs::create_dir_all(&runtime).unwrap();
            analyze.args(["--user", "verify"]).args(&files).env("XDG_RUNTIME_DIR", &runtime);
            let ran = Ran::of(analyze);
            ran.exits_with(0);
            let told = ran.stderr();
            assert!(!told.contains(folder.to_str().unwrap()) && !told.contains("skillbench-"), "{told}");
        }
    }
}

#[test]
fn the_command_of_a_unit_runs_the_suite_from_any_folder() {
    let world = World::default();
    world.write("s.json", SUITE);
    let written = json(&world.host(&["schedule", "s.json", "--frequency", "daily", "--cron", "--format", "json"]));
    let line = written["files"].as_object().unwrap().values().next().unwrap().as_str().unwrap();
    let command = line.strip_prefix("0 2 * * * ").unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir("/");
    // Cron gives next to nothing; what the schedule keeps is in the line.
    let home = std::env::var_os("HOME").unwrap_or_default();
    shell.env_clear().env("HOME", home).env("PATH", "/usr/bin:/bin");
    assert!(command.contains(" SKILLBENCH_CONFIG="), "{command}");
    Ran::of(shell).exits_with(0);
    assert!(Path::new(written["log"].as_str().unwrap()).is_file());
    assert_eq!(runs(&world), 1);
}

#[test]
fn a_schedule_that_cannot_be_is_told_and_nothing_is_printed() {
    let world = World::default();
    world.write("s.json", SUITE);
    world.write(
        "off.json",
        SUITE.replace("{\"batch", r#"{"schedule": {"enabled": false, "frequency": "daily"}, "batch"#),
    );
    world.write("broken.json", "{\"batch_sizes\": [0]}");
    world.write("line\nbreak.json", SUITE);
    let told = |arguments: &[&str], text: &str| {
        let ran = world.host(&[&["schedule"], arguments].concat());
        ran.exits_with(2).tells(text);
        assert_eq!(ran.stdout(), "");
    };
    told(&["s.json", "--frequency", "daily", "--time", "25:00"], "00:00 to 23:59");
    told(&["s.json", "--frequency", "yearly"], "hourly, daily, weekly, monthly");
    told(&["s.json"], "the suite has no schedule");
    told(&["off.json"], "is not enabled");
    told(&["nowhere.json", "--frequency", "daily"], "nowhere.json");
    told(&["broken.json", "--frequency", "daily"], "batch_sizes");
    told(&["line\nbreak.json", "--frequency", "daily"], "line break");
    told(&["s.json", "--frequency", "daily", "--day", "mon"], "--day goes with");
    told(&["s.json", "--frequency", "daily", "--", "--incremetal"], "--incremetal");
    told(&["s.json", "--frequency", "daily", "--log", "no/such/folder/log"], "a folder that is there");
    world.host(&["schedule", "off.json", "--frequency", "hourly", "--cron"]).exits_with(0).tells("0 * * * * cd ");
}

/// A folder first in the path with a `crontab` that keeps its table in a file, and a `systemctl` that writes down what it is told.
fn schedulers(world: &World, host: &mut Command) {
    use std::os::unix::fs::PermissionsExt;
    let script = |name: &str, text: &str| {
        let file = world.write(&format!("bin/{name}"), format!("#!/bin/sh\n{text}\n"));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    let table = world.path().join("table");
    let (table, log) = (table.display(), world.path().join("systemctl.log"));
    script(
        "crontab",
        &format!(
            "case \"$1\" in -l) test -f '{table}' || {{ echo 'no crontab for me' >&2; exit 1; }}; cat '{table}';; -) cat > '{table}';; esac"
        ),
    );
    script("systemctl", &format!("echo \"$@\" >> '{}'", log.display()));
    let path = std::env::join_paths(
        [world.path().join("bin")].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    host.env("PATH", path.unwrap()).env("XDG_CONFIG_HOME", world.path().join("config-home"));
}

#[test]
fn a_schedule_is_installed_once_replaced_and_removed_and_what_others_wrote_stays() {
    let world = World::default();
    let suite = world.write("s.json", SUITE);
    let schedule = |arguments: &[&str]| {
        let mut host = world.command(&[&["schedule", "s.json"], arguments].concat());
        schedulers(&world, &mut host);
        Ran::of(host)
    };
    let table = || std::fs::read_to_string(world.path().join("table")).unwrap();
    schedule(&["--cron", "--frequency", "daily"]).exits_with(0);
    assert!(!world.path().join("table").exists(), "printing installs nothing");
    world.write("table", "MAILTO=me\n1 1 * * * theirs\n");
    schedule(&["--cron", "--install", "--frequency", "daily"]).exits_with(0).tells("in the crontab");
    schedule(&["--cron", "--install", "--frequency", "weekly", "--time", "04:30"]).exits_with(0);
    assert!(table().starts_with("MAILTO=me\n1 1 * * * theirs\n# begin skillbench-s-"), "{}", table());
    assert_eq!(
        (table().matches("30 4 * * 0 cd ").count(), table().matches(" suite run ").count()),
        (1, 1),
        "{}",
        table()
    );

    schedule(&["--systemd", "--install", "--frequency", "weekly"]).exits_with(0).tells("enable-linger");
    let units = world.path().join("config-home/systemd/user");
    assert_eq!(std::fs::read_dir(&units).unwrap().count(), 2);
    let asked = || std::fs::read_to_string(world.path().join("systemctl.log")).unwrap();
    assert!(asked().starts_with("--user daemon-reload\n--user enable skillbench-s-"), "{}", asked());

    std::fs::remove_file(suite).unwrap();
    schedule(&["--remove"]).exits_with(0).tells("out of the crontab").tells("removed: ");
    assert_eq!(table(), "MAILTO=me\n1 1 * * * theirs\n");
    assert_eq!(std::fs::read_dir(&units).unwrap().count(), 0);
    assert!(asked().contains("--user disable --now skillbench-s-"), "{}", asked());
    schedule(&["--remove"]).exits_with(0).tells("in no schedule here");
}

#[test]
fn an_incremental_run_measures_only_what_is_missing() {
    let world = World::default();
    let (_, first) = world.run(&[&QUICK[..], &["--batch-sizes", "4", "--threads", "1"]].concat());
    assert_eq!(cells(&first).len(), 3);
    let more = ["--incremental", "--threads", "1", "--batch-sizes", "8"];
    let (_, second) = world.run(&[&QUICK[..], &more].concat());
    assert_eq!(outcomes(&second), ["measured"]);
    assert_eq!(cells(&second)[0]["axes"]["batch"], 8);
    let again = world.host(&[&["run"], &QUICK[..], &more].concat());
    again.exits_with(0).tells("nothing to do: the database has figures of all 3 cells");
    assert_eq!((again.stdout().as_str(), runs(&world)), ("", 2));
    // Other threads make other cells, however the number is asked for.
    let (_, threads) = world.run(&[&QUICK[..], &["--incremental", "--threads", "2"]].concat());
    assert_eq!(cells(&threads).len(), 2);
    let option = ["run", "--incremental", "--option", "rten:threads=1"];
    world.host(&[&option[..], &QUICK[..]].concat()).exits_with(0).tells("nothing to do");
    let precision = ["--incremental", "--threads", "1", "--precision", "float32"];
    assert_eq!(cells(&world.run(&[&QUICK[..], &precision].concat()).1).len(), 2);
    world.host(&["run", "--incremental", "--no-save"]).exits_with(2);
}

#[test]
fn figures_that_nobody_checked_and_cells_that_failed_are_missing() {
    let world = World::default();
    world.run(&[&QUICK[..], &["--no-verify"]].concat());
    assert_eq!(cells(&world.run(&[&QUICK[..], &["--incremental"]].concat()).1).len(), 2);
    let unchecked = [&["run"], &QUICK[..], &["--no-verify", "--incremental"]].concat();
    world.host(&unchecked).exits_with(0).tells("nothing to do");
    world.host(&["run", "--plugin", "rten", "--model", "probe-mlp", "--verify-only", "--batch-sizes", "4"]);
    let (_, checked_only) = world.run(&[&QUICK[..], &["--incremental", "--batch-sizes", "4"]].concat());
    assert_eq!(cells(&checked_only).len(), 1, "a check of outputs leaves no figures");
}

#[test]
fn an_incremental_run_that_was_stopped_is_gone_on_with() {
    let world = World::default();
    let (_, document) = world.run(&[&QUICK[..], &["--incremental"]].concat());
    let folder = world.run_folder();
    let journal = folder.join("journal.ndjson");
    let text = std::fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    std::fs::write(&journal, lines[..lines.len() - 1].join("\n")).unwrap();
    let ran = world.host(&["run", "--resume", folder.to_str().unwrap(), "--format", "json"]);
    assert_eq!(cells(&json(&ran)).len(), cells(&document).len());
}

/// The database with other words for what a run was made with, as if it was made elsewhere or at another time.
fn rewritten(world: &World, change: impl Fn(&str) -> String) {
    for entry in std::fs::read_dir(world.path().join("results")).unwrap() {
        let journal = entry.unwrap().path().join("journal.ndjson");
        if let Ok(text) = std::fs::read_to_string(&journal) {
            std::fs::write(&journal, change(&without_sums(&text))).unwrap();
        }
    }
    world.host(&["db", "init", "--overwrite"]).exits_with(0);
    world.host(&["db", "import"]).exits_with(0);
}

fn stale(world: &World, arguments: &[&str]) -> Vec<Value> {
    let rows = json(&world.host(&[&["update", "--dry-run", "--format", "json"], arguments].concat()));
    rows.as_array().unwrap().clone()
}

#[test]
fn what_is_old_is_measured_again_and_what_is_fresh_is_not() {
    let world = World::default();
    let (_, document) = world.run(&[&QUICK[..], &["--threads", "1"]].concat());
    world.host(&["update"]).exits_with(0).tells("nothing is stale of 2 measured cells");
    assert_eq!(stale(&world, &["--older-than", "30"]), Vec::<Value>::new());
    let began = document["started_at"].as_str().unwrap();
    rewritten(&world, |text| text.replace(began, "2020-01-01T00:00:00Z"));
    let rows = stale(&world, &["--older-than", "30d"]);
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row["why"].as_str().unwrap().contains("and 30.0 d is the most")), "{rows:?}");
    assert_eq!(runs(&world), 1, "--dry-run measures nothing");
    let ran = world.host(&["update", "--older-than", "4w", "--format", "json", "--quiet"]);
    let again = json(&ran);
    assert_eq!(outcomes(&again), ["measured", "measured"]);
    assert_eq!(cells(&again)[0]["threads"], 1, "as it was measured before");
    world.host(&["update"]).exits_with(0).tells("nothing is stale of 2 measured cells");
    assert_eq!(stale(&world, &["--older-than", "0"]).len(), 2);
}

#[test]
fn what_was_made_with_another_plugin_model_or_driver_is_stale_and_missing() {
    let world = World::default();
    let (_, document) = world.run(&QUICK);
    let plugin = document["environment"]["plugin_sha256"]["rten"].as_str().unwrap();
    let model = document["environment"]["models"]["probe-mlp"].as_str().unwrap();
    let cases = [
        (format!("\"{plugin}\""), "\"00\"".to_string(), "the plugin is another library of the same version"),
        ("\"00\"".into(), format!("\"{plugin}\""), ""),
        (format!("\"probe-mlp\":\"{model}\""), "\"probe-mlp\":\"another\"".into(), "the model changed"),
    ];
    for (now, then, why) in cases {
        rewritten(&world, |text| text.replace(&now, &then));
        let rows = stale(&world, &[]);
        assert_eq!(rows.len(), if why.is_empty() { 0 } else { 2 }, "{now}: {rows:?}");
        assert!(rows.iter().all(|row| row["why"] == why && row["now"] == "stale"), "{rows:?}");
    }
    let ran = world.host(&[&["run", "--budget", "0.05", "--incremental"], &QUICK[..]].concat());
    ran.exits_with(0).tells("is measured again: the model changed").tells("2 of 2 cells are missing");
}

#[test]
fn what_is_gone_or_of_tomorrow_is_told_and_other_machines_are_left_alone() {
    let world = World::default();
    let model = world.write(
        "skills/mine.onnx",
        std::fs::read(skillbench_tests::workspace().join("host/worker/data/probe.onnx")).unwrap(),
    );
    let brought = ["--plugin", "rten", "--model", "skills/mine.onnx", "--bench", "inference", "--batch-sizes", "1"];
    let (_, document) = world.run(&brought);
    let began = document["started_at"].as_str().unwrap().to_string();
    assert_eq!(outcomes(&world.run(&[&QUICK[..], &["--batch-sizes", "4"]].concat()).1).len(), 3);

    assert_eq!(stale(&world, &["--older-than", "0", "--model", "mine"]).len(), 1);
    std::fs::rename(&model, world.path().join("moved.onnx")).unwrap();
    world.host(&["update", "--dry-run"]).exits_with(0).tells("mine.onnx").tells("gone");
    world.host(&["update", "--dry-run", "--model", "mine"]).exits_with(4).tells("there is no model 'mine' here");
    world
        .host(&["update", "--dry-run", "--plugin", "cuda"])
        .exits_with(2)
        .tells("nothing is stored of the plugin 'cuda'");
    let changed = world.path().join("moved.onnx");
    std::fs::rename(changed, model).unwrap();

    rewritten(&world, |text| text.replace(&began, "2999-01-01T00:00:00Z"));
    world.host(&["update", "--dry-run"]).exits_with(0).tells("dated after this machine's clock").tells("2999-01-01");

    rewritten(&world, |text| {
        let text =
            text.replace(&format!("\"machine\":{}", document["environment"]["machine"]), "\"machine\":\"another\"");
        let name = document["environment"]["hostname"].as_str().unwrap();
        text.replace(&format!("\"hostname\":\"{name}\""), "\"hostname\":\"another-machine\"")
    });
    world
        .host(&["update", "--older-than", "0", "--dry-run"])
        .exits_with(0)
        .tells("nothing is stale of 0 measured cells");
}

/// A run that holds the lock until it is killed.
fn holder(world: &World) -> std::process::Child {
    let asked =
        [&["run", "--quiet", "--budget", "600", "--iterations", "1000000000", "--timeout", "600"], &QUICK[..]].concat();
    let child = world.command(&asked).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (lock, began) = (world.path().join("lock"), Instant::now());
    while std::fs::read_to_string(&lock).ok().is_none_or(|text| !text.contains(&child.id().to_string())) {
        assert!(began.elapsed() < Duration::from_secs(60), "the lock is not taken");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

#[test]
fn a_second_benchmark_waits_and_says_for_whom_and_a_killed_one_holds_nothing() {
    let world = World::default();
    let mut first = holder(&world);
    let pid = format!("process {}", first.id());
    let quick = [&["run", "--budget", "0.05"], &QUICK[..]].concat();
    world.host(&[&quick[..], &["--lock-wait", "0.5"]].concat()).exits_with(4).tells(&pid).tells("--no-lock");
    world.host(&[&quick[..], &["--no-lock"]].concat()).exits_with(0);
    world.host(&["bench", "run", "--lock-wait", "0"]).exits_with(4).tells(&pid);
    world.host(&["run", "--plugin", "rtenn"]).exits_with(2);

    // Read until it is told, however long a busy machine takes for that.
    let waits = || {
        let mut waiting = world.command(&quick);
        let mut waiting = waiting.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut told = BufReader::new(waiting.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains(&format!("waiting for {pid}")) {
            line.clear();
            assert!(told.read_line(&mut line).unwrap() > 0, "it ended without a wait");
        }
        // What else it says is read, so that it can say it.
        (waiting, std::thread::spawn(move || std::io::copy(&mut told, &mut std::io::sink())))
    };
    let (mut stopped, _told) = waits();
    Command::new("kill").args(["-INT", &stopped.id().to_string()]).status().unwrap();
    assert_eq!(stopped.wait().unwrap().code(), Some(130));

    let (mut waiting, _told) = waits();
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(waiting.wait().unwrap().code(), Some(0));
}

#[test]
fn a_place_that_takes_no_lock_is_told_once_and_costs_nothing() {
    let world = World::default();
    let mut host = world.command(&[&["run", "--budget", "0.05"], &QUICK[..]].concat());
    let ran = Ran(host.env("SKILLBENCH_LOCK", world.path().join("no/such/folder/lock")).output().unwrap());
    ran.exits_with(0).tells("no lock can be had there");
    assert_eq!(ran.stderr().matches("no lock can be had").count(), 1);
}

/// Work that keeps a processor from others until it is dropped.
#[cfg(target_os = "linux")]
struct Busy(Vec<std::process::Child>);

#[cfg(target_os = "linux")]
impl Busy {
    fn on(cpu: &str, so_many: usize) -> Busy {
        let one = || Command::new("taskset").args(["-c", cpu, "sh", "-c", "while :; do :; done"]).spawn().unwrap();
        Busy((0..so_many).map(|_| one()).collect())
    }
}

#[cfg(target_os = "linux")]
impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_nightly_generation_in_int4_that_became_slower_alerts() {
    let world = World::apart();
    let measured = ["--bench", "generation", "--model", "llama-tiny-kv", "--precision", "int4", "--plugin", "rten"];
    let small = ["--prompt-lengths", "8", "--new-tokens", "4", "--threads", "1", "--budget", "2", "--db", "all.duckdb"];
    let gate = ["--baseline", "nightly", "--fail-on-regression", "60", "--alert-file", "alerts.ndjson"];
    let pinned = |line: &str| line.replacen("&& ", "&& taskset -c 0 ", 1);
    let scheduled = |more: &[&str]| {
        let asked = ["schedule", "--name", "tokens", "--frequency", "daily", "--cron", "--quiet"];
        world.host(&[&asked[..], &measured, &small, more].concat()).exits_with(0).stdout()
    };
    let first = world.as_cron_runs(&pinned(&scheduled(&["--save-baseline", "nightly"])));
    assert_eq!(first.code(), Some(0), "{}", first.stderr());
    let line = pinned(&scheduled(&gate));
    let busy = Busy::on("0", 4);
    let slower = world.as_cron_runs(&line);
    drop(busy);
    let log = std::fs::read_to_string(world.path().join("skillbench-tokens.log")).unwrap();
    assert_eq!(slower.code(), Some(1), "{log}");
    let alerts = std::fs::read_to_string(world.path().join("alerts.ndjson")).unwrap();
    let alert: Value = serde_json::from_str(alerts.lines().next().unwrap()).unwrap();
    assert_eq!((&alert["kind"], &alert["cell"]["precision"]), (&"regression".into(), &"int4".into()));
    assert_eq!(alert["cell"]["benchmark"], "generation");
}
