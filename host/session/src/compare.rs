//! Two stored sides held against each other. They were measured one after the other, so that the noise between two moments counts.

use skillbench_engine::environment;
use skillbench_record::catalog;
use skillbench_record::defaults::defaults;
use skillbench_record::machine;
use skillbench_record::paths;
use skillbench_record::time::now_utc;
use skillbench_results::compared::{self, Across, Question};
use skillbench_results::{FrameError, Stored};
use skillbench_stats::compare::{COMPARISON_SCHEMA, ComparedCell, Comparison, Gate, Mode, Noise, Party, gate};

/// How two stored sides are compared.
pub struct Rules {
    pub across: Across,
    /// The smallest difference that is told, as a share.
    pub effect: f64,
    /// Metrics of the catalogue that are compared too.
    pub metrics: Vec<&'static catalog::Metric>,
    pub seed: Option<u64>,
    /// What was typed.
    pub command: Vec<String>,
}

/// Compares what was read, under these names.
///
/// # Errors
/// The results could not be worked through.
pub fn stored(sides: [&Stored; 2], names: [&str; 2], rules: &Rules) -> Result<Comparison, FrameError> {
    let [before, after] = [0, 1].map(|side| party(names[side], sides[side]));
    // The noise that counts is that of the machine that measured.
    let machine = sides[1].runs.iter().find_map(|run| run.environment.machine_id()).unwrap_or_else(machine::this);
    let noise = Noise::load(&paths::data(), &machine);
    let seed = rules.seed.unwrap_or(defaults().run.seed);
    let question =
        Question { across: rules.across, noise: &noise, effect: rules.effect, metrics: &rules.metrics, seed };
    let cells = compared::compare(sides[0], sides[1], &question)?;
    Ok(document(Mode::Apart, [before, after], rules.command.clone(), cells))
}

fn party(name: &str, stored: &Stored) -> Party {
    let last = stored.runs.last();
    let machine = compared::machines(stored).ok().and_then(|machines| machines.into_iter().next());
    Party {
        name: name.into(),
        run: last.map(|run| run.run_id.clone()),
        started_at: last.map(|run| run.started_at.clone()),
        machine: machine.unwrap_or_default(),
    }
}

/// A side that was measured now, on this machine.
pub(crate) fn party_here(name: String) -> Party {
    Party { name, run: None, started_at: None, machine: machine::label() }
}

/// The document of a comparison that was made now.
pub fn document(mode: Mode, [before, after]: [Party; 2], command: Vec<String>, cells: Vec<ComparedCell>) -> Comparison {
    let compared_at = now_utc();
    let stamp: String = compared_at.chars().filter(char::is_ascii_digit).collect();
    let (day, time) = stamp.split_at(8.min(stamp.len()));
    Comparison {
        schema: COMPARISON_SCHEMA.into(),
        id: format!("{day}-{time}-{:05}", std::process::id() % 100_000),
        compared_at,
        command,
        mode,
        before,
        after,
        environment: (mode == Mode::Interleaved).then(environment::probe),
        across: vec![],
        notes: vec![],
        cells,
    }
}

/// Whether nothing of a comparison is worse by more than `most` (0.05 for 5%): broken where one metric confirms it, unclear where that
/// is undecided for one, or nothing was compared.
pub fn gate_of(cells: &[ComparedCell], most: f64) -> Gate {
    let metrics = cells.iter().flat_map(|cell| &cell.metrics);
    // One figure on each side, as of memory between two runs, can neither break a limit nor keep it.
    let judged = metrics.filter(|metric| metric.evidence.interval.is_some() || metric.evidence.rounds > 1);
    let gates: Vec<Gate> = judged.map(|m| gate(&m.metric, &m.evidence, m.verdict, most)).collect();
    match () {
        () if gates.contains(&Gate::Broken) => Gate::Broken,
        () if gates.is_empty() || gates.contains(&Gate::Unclear) || cells.iter().any(|cell| cell.reason.is_some()) => {
            Gate::Unclear
        }
        () => Gate::Kept,
    }
}
