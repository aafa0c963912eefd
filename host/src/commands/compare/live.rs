//! Two backends, versions, precisions or options, measured in turns.

use super::effect;
use crate::cli::{CompareArgs, Global, LiveArgs};
use crate::commands::machine_lock::MachineLock;
use crate::commands::plugin::tell_rejected;
use crate::commands::typed::typed;
use crate::commands::{CommandError, Exit, failed, usage};
use crate::output;
use skillbench_engine::compare::{Live, Side};
use skillbench_engine::defaults::defaults;
use skillbench_engine::paths;
use skillbench_engine::run::{Interleave, Inventory, Observer, Plan};
use skillbench_engine::worker::Stop;
use skillbench_record::RunRequest;
use skillbench_record::machine;
use skillbench_session::compare::document;
use skillbench_session::interleave::{pairs, plan_of, with_defaults};
use skillbench_stats::compare::{ComparedCell, Comparison, Mode, Noise, Party};
use skillbench_stats::rules;

pub fn compare(global: &Global, args: &CompareArgs) -> Result<Comparison, CommandError> {
    let sides = [&args.before, &args.after].map(|text| text.parse::<Side>().map_err(usage));
    let [before, after] = sides;
    let sides = [before?, after?];
    let base = base_request(&args.live);
    let plans = [side_plan(global, &sides[0], &base)?, side_plan(global, &sides[1], &base)?];
    // Of a length that nobody gave nothing is told.
    let given =
        |warning: &&String| !args.live.sequence_lengths.is_empty() || !warning.starts_with("--sequence-lengths");
    plans[0].warnings.iter().filter(given).for_each(|warning| output::warning(warning));
    let pairs = pairs(&plans[0], &plans[1]).map_err(usage)?;
    let mut lock = MachineLock::default();
    lock.take(global, &args.lock).map_err(CommandError::Exit)?;

    let machine = machine::label();
    let noise = Noise::load(&paths::data(), &machine::this());
    let rules = &rules().compare;
    let live = Live {
        noise: &noise,
        effect: effect(args.effect, args.fail_on_regression),
        launches: args.live.launches.unwrap_or(rules.launches),
        pairs: args.live.pairs.unwrap_or(rules.pairs),
        seed: args.live.seed.unwrap_or(defaults().run.seed),
    };
    let folder = args.stored.results_dir.join("comparisons");
    let mut interleave = Interleave::new([&plans[0], &plans[1]], &folder, "comparison");
    let mut cells: Vec<ComparedCell> = vec![];
    for (number, pair) in pairs.iter().enumerate() {
        let cell = &plans[0].models[pair[0].model];
        let name = format!("[{}/{}] {}, {}", number + 1, pairs.len(), cell.id(), pair[0].axes);
        let mut talk = Talk { quiet: global.quiet, debug: global.debug, name };
        talk.note(&format!("in turns, {} launches or more", live.launches));
        match live.compare(&mut interleave, *pair, &mut talk) {
            Ok(cell) => cells.push(cell),
            Err(_) => break,
        }
    }
    let party = |side: &Side| Party { name: side.name.clone(), run: None, started_at: None, machine: machine.clone() };
    let comparison = document(Mode::Interleaved, [party(&sides[0]), party(&sides[1])], typed(), cells);
    let file = folder.join(format!("{}.json", comparison.id));
    let text = serde_json::to_vec_pretty(&comparison).map_err(failed)?;
    match global.quiet {
        true => output::write(&file, &text).map_err(failed)?,
        false => output::to_file(&file, &text).map_err(failed)?,
    }
    if Stop::global().asked() {
        output::say(&format!("stopped; {} of {} comparisons are done", comparison.cells.len(), pairs.len()));
        return Err(CommandError::Exit(Exit::Stopped));
    }
    Ok(comparison)
}

/// What both sides of a comparison have in common.
pub fn base_request(args: &LiveArgs) -> RunRequest {
    with_defaults(RunRequest {
        models: args.model.clone(),
        benchmarks: args.bench.clone(),
        batch_sizes: args.batch_sizes.clone(),
        sequence_lengths: args.sequence_lengths.clone(),
        threads: args.threads,
        timeout_s: args.timeout,
        seed: args.seed,
        ..RunRequest::default()
    })
}

/// The plan of one side.
///
/// # Errors
/// A name or value that cannot be.
pub fn side_plan(global: &Global, side: &Side, base: &RunRequest) -> Result<Plan, CommandError> {
    let mut inventory = Inventory::take(&global.sources());
    if side.library.is_none() {
        tell_rejected(&inventory);
    }
    if !global.quiet {
        inventory.tell = skillbench_engine::skill::Tell(output::say);
    }
    plan_of(&mut inventory, side, base).map_err(usage)
}

/// How a comparison goes, for people.
pub struct Talk {
    pub quiet: bool,
    pub debug: bool,
    pub name: String,
}

impl Observer for Talk {
    fn note(&mut self, text: &str) {
        if !self.quiet {
            output::say(&format!("{}: {text}", self.name));
        }
    }

    fn warning(&mut self, text: &str) {
        output::warning(&format!("{}: {text}", self.name));
    }

    fn debug(&mut self, text: &str) {
        if self.debug {
            output::say(&format!("{}: {text}", self.name));
        }
    }
}
