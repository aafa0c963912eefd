//! Runs with the plugins of this folder, and what was seen of them.

use skillbench_engine::cores;
use skillbench_engine::registry::{Sources, library_file_name};
use skillbench_engine::run::{Inventory, Observer, PlannedCell, execute, plan};
use skillbench_record::RunRequest;
use skillbench_record::{Cell, RUN_SCHEMA, Run, Samples};
use skillbench_worker::Stop;
use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Goes on in a process of the test's own, with folders of its own; the test ends here where that has been done.
#[macro_export]
macro_rules! alone {
    () => {
        fn here() {}
        if !$crate::world::alone(std::any::type_name_of_val(&here)) {
            return;
        }
    };
}

pub fn alone(path: &str) -> bool {
    const INSIDE: &str = "SKILLBENCH_TEST_ALONE";
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let test = path.split("::").nth(1).unwrap();
    let own = tempfile::tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact"]).env(INSIDE, "1");
    for folder in ["CACHE", "CONFIG", "DATA"] {
        command.env(format!("SKILLBENCH_{folder}"), own.path().join(folder));
    }
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
    false
}

/// Processes that this one started and that live.
pub fn children() -> Vec<u32> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<_>>()).collect()
}

/// What became of a run.
#[derive(Default)]
pub struct Seen {
    /// In the order in which they ended.
    pub cells: Vec<Cell>,
    /// Notes and warnings.
    pub told: Vec<String>,
    /// "begin 0", "end 0" ...
    pub order: Vec<String>,
    pub places: Vec<(usize, usize)>,
    /// The cores that the workers of each moment were bound to.
    pub moments: HashSet<Vec<BTreeSet<usize>>>,
    pub took: Duration,
}

struct Watching<'a> {
    seen: &'a mut Seen,
    /// "full": no outcome can be kept.
    how: &'a str,
    on_begin: &'a mut dyn FnMut(usize),
}

impl Observer for Watching<'_> {
    fn note(&mut self, text: &str) {
        self.seen.told.push(text.into());
    }

    fn warning(&mut self, text: &str) {
        self.seen.told.push(text.into());
    }

    fn cell_begun(&mut self, cell: &PlannedCell, place: usize, of: usize) {
        self.seen.order.push(format!("begin {}", cell.index));
        self.seen.places.push((place, of));
        (self.on_begin)(cell.index);
    }

    fn cell_ended(&mut self, cell: &Cell, _: &[Samples]) -> io::Result<()> {
        if self.how == "full" {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.seen.order.push(format!("end {}", cell.index));
        self.seen.cells.push(cell.clone());
        Ok(())
    }
}

/// A folder with two backends, and benchmarks for them.
pub struct World {
    folder: tempfile::TempDir,
    pub stop: Stop,
}

impl Default for World {
    fn default() -> World {
        let folder = tempfile::tempdir().unwrap();
        let mut registry = "version = 1\n".to_string();
        for (id, flags) in [("one", &["-DBACKEND"][..]), ("two", &["-DBACKEND"]), ("benchmarks", &[])] {
            let library = folder.path().join(library_file_name(id));
            compile(&library, id, flags);
            registry += &format!("[[plugin]]\nid = \"{id}\"\nlibrary = {library:?}\n");
        }
        std::fs::write(folder.path().join("registry.toml"), registry).unwrap();
        World { folder, stop: Stop::default() }
    }
}

impl World {
    pub fn run(&self, request: RunRequest) -> Seen {
        self.resume(request, &[])
    }

    pub fn resume(&self, request: RunRequest, done: &[Cell]) -> Seen {
        let (seen, error) = self.carry_out(request, done, "", &mut |_| {});
        assert!(error.is_none(), "{error:?}");
        seen
    }

    pub fn run_until(
        &self,
        request: RunRequest,
        how: &str,
        mut on_begin: impl FnMut(usize),
    ) -> (Seen, Option<io::Error>) {
        self.carry_out(request, &[], how, &mut on_begin)
    }

    fn carry_out(
        &self,
        request: RunRequest,
        done: &[Cell],
        how: &str,
        on_begin: &mut dyn FnMut(usize),
    ) -> (Seen, Option<io::Error>) {
        let sources = Sources { registry: Some(self.folder.path().join("registry.toml")), ..Default::default() };
        let inventory = Inventory::take(&sources, &self.stop);
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../worker/data/probe.onnx");
        let request = RunRequest { models: vec![model.to_string_lossy().into()], ..request };
        let plan = plan(&inventory, request).unwrap();
        let run = Run {
            schema: RUN_SCHEMA.into(),
            run_id: "test".into(),
            started_at: "2026-01-31T12:00:00Z".into(),
            command: vec![],
            seed: 1,
            environment: skillbench_engine::environment::probe(),
            left_out: Default::default(),
            cells: done.to_vec(),
        };
        let (mut seen, over) = (Seen::default(), AtomicBool::new(false));
        let began = Instant::now();
        let indices = done.iter().map(|cell| cell.index).collect();
        let (error, moments) = std::thread::scope(|scope| {
            let sampler = scope.spawn(|| moments(&over));
            let mut watching = Watching { seen: &mut seen, how, on_begin };
            let result = execute(&plan, &run, self.folder.path(), &indices, &mut watching);
            over.store(true, Ordering::SeqCst);
            (result.err(), sampler.join().unwrap())
        });
        (seen.took, seen.moments) = (began.elapsed(), moments);
        (seen, error)
    }
}

/// Looks again and again at what the system says of the workers there are.
fn moments(over: &AtomicBool) -> HashSet<Vec<BTreeSet<usize>>> {
    let mut all = HashSet::new();
    while !over.load(Ordering::SeqCst) {
        let mut bound: Vec<BTreeSet<usize>> = children().into_iter().filter_map(cores::of_process).collect();
        bound.sort();
        all.insert(bound);
        std::thread::sleep(Duration::from_millis(5));
    }
    all
}

/// Compiles the plugin of this folder.
fn compile(library: &Path, id: &str, flags: &[&str]) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()));
    command.args(["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden", "-fPIC", "-O1", "-shared"]);
    command.args(flags).arg(format!("-DPLUGIN_ID=\"{id}\"")).arg("-I").arg(here.join("../../plugin-api/include"));
    let output = command.arg("-o").arg(library).arg(here.join("tests/lanes/plugin.c")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
