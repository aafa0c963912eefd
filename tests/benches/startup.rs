//! How long it takes until a worker is ready, and to list many plugins. Run by a person, after `scripts/setup`:
//! `cargo bench --profile release -p skillbench-tests --bench startup`.

mod times;

use skillbench_record::PluginOptions;
use skillbench_tests::{World, built_library};
use skillbench_worker::{Command, Limits, PluginUse, Reply, Stop, Worker};
use std::process::ExitCode;
use std::time::Instant;
use times::show;

const WORKERS: usize = 50;
const LIBRARIES: usize = 200;

fn main() -> ExitCode {
    // Workers are this same program, as they are the same `host` elsewhere.
    if std::env::args().nth(1).as_deref() == Some(skillbench_worker::child::WORKER_ARGUMENT) {
        return skillbench_worker::child::run();
    }
    workers();
    listing();
    ExitCode::SUCCESS
}

fn workers() {
    let library = built_library("skillbench_rten");
    let backend = PluginUse { id: "rten".into(), library: library.into(), options: PluginOptions::new() };
    let (mut ready, mut opened) = (vec![], vec![]);
    for _ in 0..WORKERS {
        let start = Instant::now();
        let command = Command::Devices { backend: backend.clone() };
        let mut worker = Worker::start(&command).expect("a worker can be started");
        let (reply, watched) = worker.call(&command, &Limits::probing(&Stop::default()), &mut |_| {});
        opened.push(start.elapsed().as_secs_f64() * 1e3);
        assert!(matches!(reply, Ok(Reply::Devices { .. })), "{reply:?}");
        ready.extend(watched.ready.map(|time| time.as_secs_f64() * 1e3));
    }
    show("worker, start to its first message", ready);
    show("worker, start to rten opened and its devices told", opened);
}

fn listing() {
    let world = World::default();
    let folder = world.path().join("many");
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let library = built_library("misbehave_fixture");
    for number in 0..LIBRARIES {
        std::fs::copy(&library, folder.join(format!("libmany{number}.so"))).expect("a library can be copied");
    }
    let cache = world.path().join("cache");
    let list = || {
        let start = Instant::now();
        let mut command = world.command(&["plugin", "list", "--search-path", "many"]);
        let output = command.env("SKILLBENCH_CACHE", &cache).output().expect("the host can be started");
        assert!(output.status.success());
        start.elapsed().as_secs_f64() * 1e3
    };
    show("plugin list over 200 libraries, empty cache", vec![list()]);
    show("plugin list over 200 libraries, warm cache", (0..20).map(|_| list()).collect());
}
