//! A fleet of two machines with a courier in memory, and one submission for both.

use parking_lot::Mutex;
use skillbench_engine::bench::Found;
use skillbench_fleet::agent::{Agent, AgentError, Answer, Finished, Measure, Spool, Step, Until, Word};
use skillbench_fleet::collect::{CollectError, Collected, Collector};
use skillbench_fleet::courier::memory::MemoryCourier;
use skillbench_fleet::courier::{ALIVE, Courier, CourierError, Over, Table};
use skillbench_fleet::files::{FileError, NamedFile};
use skillbench_fleet::form::{self, Announced, AskedCell, Beat, Doing, Lot, Machine, MachineRun, Submission};
use skillbench_fleet::keys::{Folder, Pass, Role};
use skillbench_fleet::own::{self, OwnFiles, OwnModel, Sources, option_text};
use skillbench_fleet::seal::{Signer, Trust};
use skillbench_fleet::submit::{self, SubmitError, send};
use skillbench_fleet::{names, verify};
use skillbench_record::cell_files;
use skillbench_record::journal::Line;
use skillbench_record::{
    BackendChoice, Cell, CellName, Environment, Metrics, OptionChoice, Outcome, Reason, Run, RunRequest,
};
use skillbench_session::Event;
use skillbench_worker::{BenchmarkDescription, Description, DeviceRecord, Entry, Library, Stop};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const MACHINES: [&str; 2] = ["h1", "h2"];
pub const ID: &str = "20260131-120000-0a1b2c3d";
/// So many lots each machine has, and so many cells each of them.
const LOTS: usize = 2;
const CELLS: usize = 3;

pub fn environment() -> Environment {
    serde_json::from_value(serde_json::json!({
        "host_version": "0.1.0", "os": "linux", "arch": "x86_64", "clock": "monotonic", "machine": "one",
        "plugin_sha256": {"p0": "aa", "p1": "bb", "inference": "cc"}, "models": {"m": "content"}
    }))
    .unwrap()
}

/// Whoever measures, as a test has it: every cell takes no time.
#[derive(Default)]
pub struct Bench {
    /// How often each cell was measured.
    pub measured: Mutex<BTreeMap<String, usize>>,
    /// What happens to a cell of this plugin and batch, in place of being measured.
    pub fate: Mutex<Option<(String, i64, Fate)>>,
    /// The libraries as they are when a run begins.
    pub plugins: Mutex<Option<BTreeMap<String, String>>>,
    /// Requests name files of the submitter's, and each cell leaves one.
    has_files: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The host that measures it dies.
    HostDies,
    /// The agent dies with it.
    AgentDies,
}

impl Measure for Bench {
    fn measure(
        &self,
        request: &RunRequest,
        folder: &Path,
        on: &mut dyn FnMut(Step<'_>) -> Result<Answer, CourierError>,
    ) -> Result<Finished, CourierError> {
        let mut environment = environment();
        if let Some(plugins) = &*self.plugins.lock() {
            environment.plugin_sha256.clone_from(plugins);
        }
        let run = Run {
            schema: skillbench_record::RUN_SCHEMA.into(),
            run_id: "it".into(),
            started_at: "2026-01-31T12:00:00Z".into(),
            command: vec![],
            seed: 42,
            environment,
            left_out: BTreeMap::new(),
            cells: vec![],
        };
        if on(Step::Head(&run))? == Answer::Stop {
            return Ok(Finished::Stopped);
        }
        if self.has_files {
            check_brought(request);
        }
        std::fs::create_dir_all(folder.join("it")).unwrap();
        let journal = folder.join("it/journal.ndjson");
        let mut journal = std::fs::File::options().create(true).append(true).open(journal).unwrap();
        for (index, name) in request.exactly.iter().enumerate() {
            if on(Step::Begin(index))? == Answer::Stop {
                return Ok(Finished::Stopped);
            }
            let fate = self.fate.lock().clone();
            if let Some((plugin, batch, fate)) = fate
                && plugin == name.plugin
                && name.axes.get("batch") == Some(&batch)
            {
                match fate {
                    Fate::HostDies => return Ok(Finished::Died("signal 11".into())),
                    Fate::AgentDies => return Err(CourierError::Killed),
                }
            }
            // Before the lock: all machines wait for it.
            let key = names::key(name);
            *self.measured.lock().entry(key).or_default() += 1;
            let cell = Cell { index, outcome: Outcome::Measured(Box::new(Metrics::default())), ..blank(name) };
            let line = Line::Cell { cell: &cell, samples: &[] }.text().unwrap();
            if self.has_files {
                let left = cell_files::attachments(&folder.join("it"), index);
                std::fs::create_dir_all(&left).unwrap();
                std::fs::write(left.join("left.txt"), names::key(name)).unwrap();
            }
            journal.write_all(&line).unwrap();
            on(Step::Ended(String::from_utf8(line).unwrap().trim_end()))?;
        }
        Ok(Finished::All)
    }
}

/// A graph with its weights, and a file that an option leads to.
const BROUGHT: [(&str, &str); 3] = [("m.onnx", "graph"), ("w/m.data", "weights"), ("day.csv", "time_s\n0\n")];
const OPTION: &str = "day.csv";

/// What a request names has to be here, under paths of this machine.
fn check_brought(request: &RunRequest) {
    let list = request.selection.custom.as_ref().unwrap();
    let list: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(list).unwrap()).unwrap();
    let model = PathBuf::from(list["m"]["path"].as_str().unwrap());
    assert_eq!(request.names[model.to_str().unwrap()], "m");
    assert_eq!(list["m"]["family"], "vision");
    for (place, text) in &BROUGHT[..2] {
        assert_eq!(std::fs::read_to_string(model.with_file_name(place)).unwrap(), *text);
    }
    let [option] = &request.options[..] else { panic!("{:?}", request.options) };
    assert!(option.value != OPTION && option.value.ends_with(".csv"), "{option:?}");
    assert_eq!(std::fs::read_to_string(&option.value).unwrap(), BROUGHT[2].1);
}

/// Has a submission measured with files of the submitter's. Returns where they are.
fn bring(submission: &mut Submission, disk: &Path) -> Sources {
    let mut sources = Sources::new();
    let mut files = BROUGHT.map(|(name, text)| {
        let path = disk.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        let file = NamedFile::of(name, &path).unwrap();
        sources.insert(file.sha256.clone(), path);
        file
    });
    let day = files[2].clone();
    files[2] = files[0].clone();
    let model = OwnModel { root: files[0].name.clone(), family: Some("vision".into()), files: files[..2].to_vec() };
    let option = OptionChoice::parse(&format!("serving:trace={OPTION}")).unwrap();
    submission.own.models.insert("m".into(), model);
    submission.own.options.insert(option_text(&option), day);
    submission.runs.iter_mut().for_each(|run| run.request.options.push(option.clone()));
    sources
}

fn blank(name: &CellName) -> Cell {
    Cell {
        plugin: name.plugin.clone(),
        skill: name.model.clone(),
        benchmark: name.benchmark.clone(),
        axes: name.axes.clone(),
        ..Cell::blank()
    }
}

/// One run of each machine with so many lots of so many cells, and a cell that a rule skips.
pub fn submission_for(machines: &[String], lots: usize, cells_of_lot: usize) -> Submission {
    let run = |machine: &str| {
        let (mut cells, mut kinds) = (vec![], vec![]);
        for lot in 0..lots {
            for batch in 1..=cells_of_lot {
                let name = CellName {
                    plugin: format!("p{lot}"),
                    device: None,
                    model: "m".into(),
                    benchmark: "inference".into(),
                    axes: format!("batch={batch}").parse().unwrap(),
                };
                let kind = Cell { axes: Default::default(), ..blank(&name) };
                if batch == 1 {
                    kinds.push(kind);
                }
                cells.push(AskedCell { key: names::key(&name), name, kind: lot });
            }
        }
        let too_large = 99.max(cells_of_lot + 1);
        let name = CellName { axes: format!("batch={too_large}").parse().unwrap(), ..cells[0].name.clone() };
        let skipped = Outcome::Skipped(Reason::new("rule", "too large"));
        kinds.push(Cell { outcome: skipped, axes: Default::default(), ..blank(&name) });
        cells.push(AskedCell { key: names::key(&name), name, kind: kinds.len() - 1 });
        MachineRun {
            machine: machine.into(),
            request: RunRequest {
                backends: (0..lots).map(|lot| BackendChoice { plugin: format!("p{lot}"), device: None }).collect(),
                ..RunRequest::default()
            },
            environment: environment(),
            clock: None,
            cells,
            kinds,
        }
    };
    let lot = |number: usize| {
        let first = number % lots * cells_of_lot;
        Lot { id: number.to_string(), run: number / lots, cells: (first..first + cells_of_lot).collect() }
    };
    Submission {
        schema: form::SUBMISSION.into(),
        id: ID.into(),
        by: "me".into(),
        at: "2026-01-31T12:00:00Z".into(),
        command: vec![],
        seed: 42,
        runs: machines.iter().map(|machine| run(machine)).collect(),
        lots: (0..machines.len() * lots).map(lot).collect(),
        own: OwnFiles::default(),
        must_understand: vec![],
    }
}

pub fn submission() -> Submission {
    submission_for(&MACHINES.map(String::from), LOTS, CELLS)
}

/// What stops a part of a fleet.
#[derive(Debug)]
pub enum Ended {
    Killed,
    Other(String),
}

impl From<CourierError> for Ended {
    fn from(error: CourierError) -> Ended {
        match error {
            CourierError::Killed => Ended::Killed,
            error => Ended::Other(error.to_string()),
        }
    }
}

impl From<AgentError> for Ended {
    fn from(error: AgentError) -> Ended {
        match error {
            AgentError::Courier(error) => error.into(),
            error => Ended::Other(error.to_string()),
        }
    }
}

impl From<SubmitError> for Ended {
    fn from(error: SubmitError) -> Ended {
        match error {
            SubmitError::Courier(error) => error.into(),
            error => Ended::Other(error.to_string()),
        }
    }
}

impl From<CollectError> for Ended {
    fn from(error: CollectError) -> Ended {
        match error {
            CollectError::Courier(error) | CollectError::Submission(SubmitError::Courier(error)) => error.into(),
            error => Ended::Other(error.to_string()),
        }
    }
}

/// Passes are made once: keys take time.
pub struct Keys {
    _folder: TempDir,
    pub me: Pass,
    pub agents: Vec<Pass>,
    /// Of machines of any name.
    pub site: Pass,
}

impl Keys {
    pub fn new() -> Keys {
        let folder = tempfile::tempdir().unwrap();
        let mut lab = Folder::init(folder.path(), "lab", "127.0.0.1").unwrap();
        let me = lab.issue("me", Role::Submitter, None).unwrap();
        let agents = MACHINES.iter().map(|name| lab.issue(name, Role::Agent, None).unwrap()).collect();
        let site = lab.issue("site", Role::Site, None).unwrap();
        Keys { _folder: folder, me, agents, site }
    }
}

pub struct World<'k> {
    pub keys: &'k Keys,
    pub courier: MemoryCourier,
    pub bench: Bench,
    pub disk: TempDir,
    pub submission: Submission,
    sources: Sources,
    /// What kind of device a machine has: those of one kind are of one class. One that is not named has none.
    pub devices: BTreeMap<String, String>,
    /// The machines whose plugins have a function each.
    pub with_functions: BTreeSet<String>,
    /// So many processes of agents there were.
    sessions: AtomicU32,
}

impl<'k> World<'k> {
    pub fn new(keys: &'k Keys) -> World<'k> {
        let mut world = World::of(keys, submission());
        world.sources = bring(&mut world.submission, world.disk.path());
        world.bench.has_files = true;
        world
    }

    pub fn of(keys: &'k Keys, submission: Submission) -> World<'k> {
        World {
            keys,
            courier: MemoryCourier::default(),
            bench: Bench::default(),
            disk: tempfile::tempdir().unwrap(),
            submission,
            sources: Sources::new(),
            devices: BTreeMap::new(),
            with_functions: BTreeSet::new(),
            sessions: AtomicU32::default(),
        }
    }

    pub fn results(&self) -> PathBuf {
        self.disk.path().join("results")
    }

    pub fn trust(&self) -> Trust {
        Trust::of(&self.keys.me)
    }

    pub fn submit(&self) -> Result<(), Ended> {
        match own::send(&self.courier, &self.submission.own, &self.sources, &mut |_| {}) {
            Err(FileError::Courier(error)) => return Err(error.into()),
            sent => sent.unwrap(),
        }
        Ok(send(&self.courier, &Signer::of(&self.keys.me).unwrap(), &self.submission)?)
    }

    /// The backends of a machine, on its one device.
    fn backends(&self, machine: &str) -> Vec<Announced> {
        let Some(device) = self.devices.get(machine) else { return vec![] };
        let backend = |id: String| Announced {
            description: Description {
                id: id.clone(),
                name: id.clone(),
                version: "1".into(),
                vendor: "v".into(),
                license: "MIT".into(),
                url: String::new(),
                entry: Entry::C,
                contract: (1, 0),
                backend: None,
                skillset: None,
                benchmarks: vec![],
            },
            id,
            aliases: vec![],
            devices: vec![DeviceRecord {
                id: "0".into(),
                name: device.clone(),
                kind: "gpu".into(),
                vendor: "v".into(),
                arch: "a".into(),
                driver: "1".into(),
                memory_bytes: None,
                emulated: false,
                remote: false,
                usable: true,
                reason: String::new(),
            }],
            why_not: None,
        };
        (0..LOTS).map(|lot| backend(format!("p{lot}"))).collect()
    }

    /// A function of each plugin of a machine.
    fn functions(&self, machine: &str) -> Vec<Found> {
        let function = |plugin: String| Found {
            plugin,
            plugin_version: "1".into(),
            plugin_door: Entry::C,
            library: Library::default(),
            description: BenchmarkDescription {
                id: "inference".into(),
                version: "1".into(),
                category: "unit".into(),
                summary: String::new(),
                options_schema: String::new(),
                needs_target: false,
                cold_start: false,
                shares_models: false,
                skill: None,
            },
            category: None,
            model: None,
        };
        let has_some = self.with_functions.contains(machine);
        (0..LOTS).filter(|_| has_some).map(|lot| function(format!("p{lot}"))).collect()
    }

    /// An agent starts, works its queue off, and ends.
    pub fn agent(&self, number: usize) -> Result<(), Ended> {
        self.agent_as(number, environment())
    }

    pub fn agent_as(&self, number: usize, environment: Environment) -> Result<(), Ended> {
        self.agent_that(number, environment, &mut |_| {})
    }

    /// An agent of a machine gives a sign of life now, as it was announced last.
    pub fn beat(&self, machine: &str) {
        let announced = submit::announced(&self.courier, &self.trust(), machine).unwrap().unwrap();
        let beat = Beat { session: announced.session, doing: Doing::Idle };
        let beat = serde_json::to_vec(&beat).unwrap();
        self.courier.write(Table::Agents, machine, &beat, Over::Anything).unwrap();
    }

    /// As [`World::agent`], with a listener.
    pub fn agent_that(
        &self,
        number: usize,
        environment: Environment,
        tell: &mut dyn FnMut(Word<'_>),
    ) -> Result<(), Ended> {
        let pass = &self.keys.agents[number];
        self.agent_with(pass, &pass.name, environment, tell)
    }

    /// An agent of a machine, with a pass for it.
    pub fn agent_with(
        &self,
        pass: &Pass,
        name: &str,
        environment: Environment,
        tell: &mut dyn FnMut(Word<'_>),
    ) -> Result<(), Ended> {
        let machine = Machine {
            schema: form::MACHINE.into(),
            name: name.into(),
            session: format!("session-{}", self.sessions.fetch_add(1, Ordering::SeqCst)),
            accepts: vec![form::JOB.into()],
            understands: form::UNDERSTOOD.map(String::from).to_vec(),
            environment,
            backends: self.backends(name),
            functions: self.functions(name),
            rejected: vec![],
            labels: BTreeMap::new(),
            offers: BTreeMap::new(),
            clock: None,
            must_understand: vec![],
        };
        let spool = Spool::at(self.disk.path().join("spool").join(name)).unwrap();
        let agent = Agent::new(&self.courier, pass, machine, &self.bench, spool, Stop::default()).unwrap();
        let until = Until { once: false, idle: Some(Duration::ZERO) };
        agent.run(until, tell)?;
        Ok(())
    }

    pub fn collect(&self) -> Result<Vec<Run>, Ended> {
        let collector = Collector::of(&self.courier, &self.keys.me).unwrap();
        self.collect_with(&collector, &self.submission).map(|(runs, _)| runs)
    }

    /// Collects a submission. Returns the runs, and the submissions that have what was moved.
    pub fn collect_with(
        &self,
        collector: &Collector<'_>,
        submission: &Submission,
    ) -> Result<(Vec<Run>, Vec<String>), Ended> {
        let (began, mut told) = (Instant::now(), vec![]);
        let longest = Duration::from_secs(60 + submission.runs.len() as u64);
        let takes_too_long = || began.elapsed() > longest;
        let collected = collector.collect(submission, "lab", &self.results(), &takes_too_long, &mut |event| {
            if let Event::Warning(text) = event {
                told.push(text.to_string());
            }
        })?;
        let Collected::All { runs, moved } = collected else {
            return Err(Ended::Other(format!("it would wait for ever: {told:?}")));
        };
        Ok((runs.into_iter().map(|measured| measured.recorded.run).collect(), moved))
    }

    /// All that there is to do, in order.
    pub fn drive(&self) -> Result<Vec<Run>, Ended> {
        self.submit()?;
        (0..MACHINES.len()).try_for_each(|number| self.agent(number))?;
        self.collect()
    }

    /// Who was killed is started again, after all that it held is free.
    pub fn revive(&self) {
        self.courier.kill_after(None);
        self.courier.pass(2 * ALIVE);
    }

    /// Checks that the results have every cell once, as it was signed.
    pub fn verified(&self) {
        let verified = verify::verify(&self.courier, &self.trust(), ID, &self.results()).unwrap();
        assert!(verified.is_clean(), "{verified:?}");
        for run in self.submission.runs.iter().filter(|_| self.bench.has_files) {
            let folder = self.results().join(self.submission.run_id(&run.machine));
            let kept = skillbench_store::journal::read(&folder).unwrap().run;
            for cell in kept.cells.iter().filter(|cell| cell.outcome.metrics().is_some()) {
                let left = cell_files::of(&folder, cell.index);
                let left: Vec<String> = left.iter().map(|(_, path)| std::fs::read_to_string(path).unwrap()).collect();
                assert_eq!(left, [run.cells[cell.index].key.clone()]);
            }
        }
        assert_eq!(verified.cells, self.submission.runs.iter().map(|run| run.cells.len()).sum::<usize>());
    }
}
