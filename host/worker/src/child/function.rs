//! A benchmark that needs no target: a function of a plugin.

use super::Services;
use super::cell::{conclude, find_benchmark};
use super::rounds::Rounds;
use super::target::{highest, lock, resident};
use crate::{Event, Failure, FunctionJob, FunctionReport, SeriesRecord, Stage};
use skillbench_plugin_api::host_tables::{ReporterServices, ReporterTable};
use skillbench_plugin_api::{Options, Result as SbResult, Round, SeriesInfo};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

pub(super) fn run(services: &'static Services, job: &FunctionJob) -> Result<FunctionReport, Failure> {
    let benchmark = find_benchmark(services, &job.library, &job.benchmark)?;
    if benchmark.needs_target() {
        let text = format!("benchmark '{}' measures a model on a backend: `host run --bench {0}`", job.benchmark);
        return Err(Failure::failed("needs-target", text));
    }
    services.enter(Stage::Run);
    let verified = AtomicBool::new(true);
    let rounds = Rounds::without_target(services, &job.policy, job.attachments.as_deref(), &verified);
    // The kernel's mark of the highest resident set is of the whole process; it is set back before the first call.
    let marked = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let memory_before = resident();
    let calls = FirstCalls { rounds: &rounds, memory: Mutex::default() };
    let ran = benchmark.run(services.table(), None, &Options(job.options.clone()), &ReporterTable::new(&calls));
    let memory_first = lock(&calls.memory).highest.filter(|_| marked);
    let memory_peak = rounds.peak();
    services.send(&Event::Measuring(false));
    services.enter(Stage::Close);
    let (series, _, misuse) = rounds.finish();
    conclude(ran, misuse, None)?;
    let measured =
        |series: &SeriesRecord| !series.singles.is_empty() || series.rounds.iter().any(|round| round.measured);
    if !series.iter().any(measured) {
        return Err(Failure::failed("no-samples", "the benchmark ended without a single measured sample"));
    }
    Ok(FunctionReport { series, memory_before, memory_first, memory_peak })
}

/// Looks at the memory until the first round is over, which is one call: what is kept of later rounds, a sample for each call,
/// would count as memory of the function.
struct FirstCalls<'a> {
    rounds: &'a Rounds<'a>,
    memory: Mutex<FirstMemory>,
}

#[derive(Default)]
struct FirstMemory {
    highest: Option<u64>,
    over: bool,
}

impl FirstCalls<'_> {
    fn look(&self, over: bool) {
        let mut memory = lock(&self.memory);
        if !memory.over {
            memory.highest = memory.highest.max(highest());
            memory.over = over;
        }
    }
}

impl ReporterServices for FirstCalls<'_> {
    fn series(&self, info: SeriesInfo) -> SbResult<u32> {
        self.rounds.series(info)
    }

    fn next_round(&self, series: u32) -> Option<Round> {
        self.look(false);
        self.rounds.next_round(series)
    }

    fn samples(&self, series: u32, round: u64, values: &[f64]) -> SbResult<()> {
        // Taken first: the round ends here.
        let taken = self.rounds.samples(series, round, values);
        self.look(round != 0);
        taken
    }

    fn attach(&self, name: &str, bytes: &[u8]) {
        self.rounds.attach(name, bytes);
    }
}
