//! Where the time of a cell goes, from what its worker says on the way. There is one clock, the host's, and at every moment one phase:
//! what is in none shows as the rest.

use skillbench_record::{PhaseTime, Phases};
use skillbench_worker::{Event, Stage, monotonic_ns};
use std::time::{Duration, Instant};

/// Steps of the host's own.
/// A backend is opened in fresh processes, once for all its cells.
pub const START_UPS: &str = "start-ups";
pub const BUILD_MODEL: &str = "build-model";
pub const REFERENCE: &str = "reference";
pub const START_WORKER: &str = "start-worker";
pub const END_WORKER: &str = "end-worker";
/// The same start in further fresh processes.
pub const COLD_STARTS: &str = "cold-starts";
/// Statistics of what was measured.
pub const FIGURES: &str = "figures";
/// The operators are recorded in a process of their own.
pub const PROFILE: &str = "profile";

/// Watches one cell.
pub struct PhaseWatch {
    began: Instant,
    since: Instant,
    current: Option<&'static str>,
    spent: Vec<(&'static str, Duration)>,
    rest: Duration,
    worker: Heard,
    /// When the event was sent that comes next.
    sent: Option<Instant>,
}

/// What the worker said last.
#[derive(Default)]
struct Heard {
    stage: Option<Stage>,
    /// What the backend says it is at while it loads.
    step: Option<&'static str>,
    /// Inputs were bound, and nothing has come since: the next run is a first one.
    bound: bool,
    warming_up: bool,
    measuring: bool,
}

impl Default for PhaseWatch {
    fn default() -> PhaseWatch {
        PhaseWatch::begin()
    }
}

impl PhaseWatch {
    /// The time of the cell begins.
    pub fn begin() -> PhaseWatch {
        PhaseWatch::begin_at(Instant::now())
    }

    /// A step of the host's own begins: one of the names above.
    pub fn enter(&mut self, phase: &'static str) {
        self.enter_at(Some(phase), Instant::now());
    }

    /// A step of the host's own ends.
    pub fn leave(&mut self) {
        self.enter_at(None, Instant::now());
    }

    /// The worker of the cell said something.
    pub fn event(&mut self, event: &Event) {
        let now = Instant::now();
        if let Event::At { ns } = event {
            let ago = monotonic_ns().map(|now| Duration::from_nanos(now.saturating_sub(*ns)));
            self.sent = ago.and_then(|ago| now.checked_sub(ago));
            return;
        }
        // What was sent is no earlier than what was sent before it.
        let at = self.sent.take().map_or(now, |sent| sent.max(self.since));
        self.event_at(event, at);
    }

    /// The cell is over.
    pub fn end(self) -> Phases {
        self.end_at(Instant::now())
    }

    fn begin_at(now: Instant) -> PhaseWatch {
        PhaseWatch {
            began: now,
            since: now,
            current: None,
            spent: vec![],
            rest: Duration::ZERO,
            worker: Heard::default(),
            sent: None,
        }
    }

    fn enter_at(&mut self, phase: Option<&'static str>, now: Instant) {
        let took = now.saturating_duration_since(std::mem::replace(&mut self.since, now));
        match self.current {
            None => self.rest += took,
            Some(name) => match self.spent.iter_mut().find(|(known, _)| *known == name) {
                Some((_, spent)) => *spent += took,
                None => self.spent.push((name, took)),
            },
        }
        self.current = phase;
    }

    fn event_at(&mut self, event: &Event, now: Instant) {
        if self.worker.hear(event) {
            self.enter_at(self.worker.phase(), now);
        }
    }

    fn end_at(mut self, now: Instant) -> Phases {
        self.enter_at(None, now);
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        Phases {
            total_ms: ms(now.saturating_duration_since(self.began)),
            parts: self.spent.iter().map(|(name, took)| PhaseTime { name: name.to_string(), ms: ms(*took) }).collect(),
            other_ms: ms(self.rest),
        }
    }
}

impl Heard {
    /// Whether an event says where the worker is.
    fn hear(&mut self, event: &Event) -> bool {
        match event {
            Event::Hello { .. } => *self = Heard::default(),
            Event::Stage(stage) => {
                // A first run is what comes between the inputs and anything else.
                self.bound = self.stage == Some(Stage::Prepare) && *stage == Stage::Run;
                (self.stage, self.step) = (Some(stage.clone()), None);
            }
            Event::Phase { name, .. } if self.stage == Some(Stage::Load) => match name.as_str() {
                "read" => self.step = Some("load.read"),
                "compile" => self.step = Some("load.compile"),
                _ => return false,
            },
            Event::WarmingUp(on) => (self.warming_up, self.bound) = (*on, false),
            Event::Measuring(on) => (self.measuring, self.bound) = (*on, false),
            _ => return false,
        }
        true
    }

    /// A benchmark may load and prepare within its rounds; that is a part of them.
    fn phase(&self) -> Option<&'static str> {
        match &self.stage {
            Some(Stage::Close) => Some("close"),
            _ if self.measuring => Some("measured-rounds"),
            _ if self.warming_up => Some("warm-up"),
            Some(Stage::Import) => Some("import"),
            Some(Stage::Open) => Some("open"),
            Some(Stage::Sensors) => Some("idle-power"),
            Some(Stage::Load) => Some(self.step.unwrap_or("load")),
            Some(Stage::Prepare) => Some("inputs"),
            Some(Stage::Verify) => Some("verification"),
            Some(Stage::Run) if self.bound => Some("first-inference"),
            Some(Stage::Run) | None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays steps, each some milliseconds after the last.
    fn played(steps: &[(u64, Step)], end: u64) -> Phases {
        let began = Instant::now();
        let (mut watch, mut now) = (PhaseWatch::begin_at(began), began);
        for (later, step) in steps {
            now += Duration::from_millis(*later);
            match step {
                Step::Host(phase) => watch.enter_at(*phase, now),
                Step::Worker(event) => watch.event_at(event, now),
            }
        }
        watch.end_at(now + Duration::from_millis(end))
    }

    enum Step {
        Host(Option<&'static str>),
        Worker(Event),
    }

    fn stage(stage: Stage) -> Step {
        Step::Worker(Event::Stage(stage))
    }

    fn describe(phases: &Phases) -> Vec<(&str, f64)> {
        phases.parts.iter().map(|part| (part.name.as_str(), part.ms)).collect()
    }

    fn adds_up(phases: &Phases) {
        let sum: f64 = phases.parts.iter().map(|part| part.ms).sum::<f64>() + phases.other_ms;
        assert!((sum - phases.total_ms).abs() < 1e-6, "{phases:?}");
    }

    #[test]
    fn every_moment_of_a_cell_is_in_one_phase_or_in_the_rest() {
        let step = |name: &str| Step::Worker(Event::Phase { name: name.into(), fraction: None });
        let phases = played(
            &[
                (1, Step::Host(Some(BUILD_MODEL))),
                (20, Step::Host(Some(REFERENCE))),
                (30, Step::Host(Some(START_WORKER))),
                (5, Step::Worker(Event::Hello { protocol: 1, process: 1 })),
                (1, stage(Stage::Import)),
                (2, stage(Stage::Open)),
                (3, stage(Stage::Import)),
                (2, stage(Stage::Run)),
                (1, stage(Stage::Load)),
                (1, step("read")),
                (4, step("compile")),
                (6, stage(Stage::Run)),
                (1, stage(Stage::Prepare)),
                (7, stage(Stage::Run)),
                (8, stage(Stage::Verify)),
                (9, stage(Stage::Run)),
                (1, Step::Worker(Event::WarmingUp(true))),
                (50, Step::Worker(Event::WarmingUp(false))),
                (0, Step::Worker(Event::Measuring(true))),
                (100, Step::Worker(Event::Progress { share: 0.5 })),
                (100, Step::Worker(Event::Measuring(false))),
                (0, stage(Stage::Close)),
                (3, Step::Host(Some(COLD_STARTS))),
            ],
            40,
        );
        let expected = [
            ("build-model", 20.0),
            ("reference", 30.0),
            ("start-worker", 5.0),
            ("import", 4.0),
            ("open", 3.0),
            ("load", 1.0),
            ("load.read", 4.0),
            ("load.compile", 6.0),
            ("inputs", 7.0),
            ("first-inference", 8.0),
            ("verification", 9.0),
            ("warm-up", 50.0),
            ("measured-rounds", 200.0),
            ("close", 3.0),
            ("cold-starts", 40.0),
        ];
        assert_eq!(describe(&phases), expected);
        adds_up(&phases);
        assert!(phases.other_ms < 0.05 * phases.total_ms, "{phases:?}");
    }

    #[test]
    fn what_a_benchmark_loads_within_its_rounds_is_a_part_of_them() {
        let phases = played(
            &[
                (0, stage(Stage::Run)),
                (0, Step::Worker(Event::Measuring(true))),
                (10, stage(Stage::Load)),
                (10, stage(Stage::Prepare)),
                (10, stage(Stage::Run)),
                (10, Step::Worker(Event::Measuring(false))),
                (0, stage(Stage::Close)),
            ],
            2,
        );
        assert_eq!(describe(&phases), [("measured-rounds", 40.0), ("close", 2.0)]);
        adds_up(&phases);
    }

    #[test]
    fn of_two_series_each_warms_up_in_its_turn() {
        let warm = |on| Step::Worker(Event::WarmingUp(on));
        let measure = |on| Step::Worker(Event::Measuring(on));
        let turn = || [(0, warm(true)), (5, warm(false)), (0, measure(true)), (7, measure(false))];
        let phases = played(&turn().into_iter().chain(turn()).collect::<Vec<_>>(), 1);
        assert_eq!(describe(&phases), [("warm-up", 10.0), ("measured-rounds", 14.0)]);
        assert_eq!(phases.other_ms, 1.0, "the benchmark's own");
    }

    #[test]
    fn a_cell_that_ends_early_has_the_phases_it_came_to() {
        let phases = played(&[(0, Step::Host(Some(START_WORKER))), (5, stage(Stage::Import))], 2);
        assert_eq!(describe(&phases), [("start-worker", 5.0), ("import", 2.0)]);
        adds_up(&phases);
    }
}
