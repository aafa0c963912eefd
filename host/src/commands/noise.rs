//! `host doctor --noise`: measures the noise floor of this machine, and keeps it.

use super::plugin::tell_rejected;
use super::{CommandError, Done, Exit, failed, locked_out, usage};
use crate::cli::{DoctorArgs, Global};
use crate::output;
use crate::screen::Screen;
use skillbench_engine::compare::Side;
use skillbench_record::machine;
use skillbench_record::paths;
use skillbench_report::{Cell, Table};
use skillbench_session::noise::{self, Itself, NoiseError, Question};
use skillbench_stats::compare::Noise;
use skillbench_stats::rules;

pub fn noise(global: &Global, args: &DoctorArgs) -> Done {
    let inventory = global.inventory();
    tell_rejected(&inventory);
    let plugins = if args.plugin.is_empty() { noise::backends(&inventory) } else { args.plugin.clone() };
    if plugins.is_empty() {
        return Err(usage("no backend can be used here; `host doctor` says why"));
    }
    let rules = &rules().compare;
    let comparisons = args.comparisons.unwrap_or(rules.noise_comparisons);
    let models = if args.model.is_empty() { rules.noise_models.clone() } else { args.model.clone() };
    let machine = machine::this();
    let sides = plugins.iter().map(|plugin| plugin.parse::<Side>().map_err(usage)).collect::<Result<_, _>>()?;
    let question = Question { sides, models: models.clone(), benchmarks: args.bench.clone(), comparisons };
    let (mut lock, mut screen) = (args.lock.lock(), Screen::new(global));
    lock.take(&global.stop, &mut |event| screen.on(event)).map_err(|error| locked_out(&error))?;
    let seen = noise::measure(&inventory, &question, &mut |event| screen.on(event)).map_err(|error| match error {
        NoiseError::Plan(error) => usage(error),
        NoiseError::Stopped => {
            output::say(&error.to_string());
            CommandError::Exit(Exit::Stopped)
        }
        NoiseError::Scratch(_) => failed(error),
    })?;
    if let Some(file) = &args.output {
        output::to_file(file, table_of_all(&seen).render(skillbench_report::Format::Csv).as_bytes()).map_err(failed)?;
    }
    let floors = noise::floors(&seen, &models, comparisons);
    if floors.is_empty() {
        output::error("nothing was measured of what was asked for");
        return Ok(Exit::Unmeasured);
    }
    let mut table = Table::new(["plugin", "metric", "in_turns_pct", "apart_pct", "comparisons"]);
    for floor in &floors {
        table.row([
            floor.plugin.as_str().into(),
            floor.metric.as_str().into(),
            Cell::number(floor.interleaved * 100.0),
            Cell::number(floor.apart * 100.0),
            Cell::count(floor.comparisons),
        ]);
    }
    let mut kept = Noise::load(&paths::data(), &machine);
    kept.keep(floors).map_err(|error| failed(format!("the noise floor could not be kept: {error}")))?;
    output::table(&table, global.format.into());
    if !global.quiet {
        output::say(&format!("kept for {}: no smaller difference is told as one", machine::label()));
    }
    Ok(Exit::Good)
}

fn table_of_all(seen: &[Itself]) -> Table {
    let mut table = Table::new(["plugin", "model", "metric", "one", "other", "ratio", "low", "high"]);
    for one in seen {
        for (metric, evidence) in &one.figures {
            let [low, high] = evidence.interval.map_or([None, None], |[low, high]| [Some(low), Some(high)]);
            table.row([
                one.plugin.as_str().into(),
                one.model.as_str().into(),
                metric.name.as_str().into(),
                Cell::number(evidence.before),
                Cell::number(evidence.after),
                Cell::number(evidence.ratio),
                Cell::maybe(low, Cell::number),
                Cell::maybe(high, Cell::number),
            ]);
        }
    }
    table
}
