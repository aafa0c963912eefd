//! What a run is held against when it has ended: limits, and a baseline. What looks worse than the baseline is measured again before
//! that is told.

use super::persist::Persist;
use super::stored::read_run;
use super::{CommandError, Exit, alert, baseline, compare, usage};
use crate::cli::{FormatArg, GateArgs, Global};
use crate::output;
use skillbench_engine::alert::{self as alert_document, Alert, Figures, Kind};
use skillbench_record::catalog::{Checked, Limit};
use skillbench_record::options_text;
use skillbench_record::{Cell, Run};
use skillbench_session::Kept;
use skillbench_session::baseline::check_name;
use skillbench_session::gate::{Asked, Held, Saved, Verdict};
use skillbench_session::which::Chosen;

/// Reads what a run is to be held against.
///
/// # Errors
/// A limit that says nothing, or a baseline that is not there.
pub fn asked(global: &Global, args: &GateArgs, persist: &Persist) -> Result<Asked, CommandError> {
    let limits = args.limit.iter().map(|text| text.parse::<Limit>().map_err(usage)).collect::<Result<_, _>>()?;
    let read = |name: &String| {
        let Chosen { stored, .. } = read_run(&persist.place(global), name).map_err(|error| match error {
            CommandError::Usage(text) => {
                usage(format!("baseline: {text}; `host baseline list` lists those of this machine"))
            }
            other => other,
        })?;
        Ok::<_, CommandError>((name.clone(), stored))
    };
    let baseline = args.baseline.as_ref().map(read).transpose()?;
    args.save_baseline.as_deref().map(check_name).transpose().map_err(baseline::refused)?;
    let (fail_on_regression, save_baseline) = (args.fail_on_regression, args.save_baseline.clone());
    Ok(Asked { limits, baseline, fail_on_regression, save_baseline })
}

/// Tells how a run stands to what it was held to, and returns how the program ends.
///
/// # Errors
/// What could not be printed.
pub fn tell(global: &Global, persist: &Persist, kept: &Kept, verdict: &Verdict) -> Result<Exit, CommandError> {
    let (mut exit, mut alerts) = tell_limits(&verdict.limits, &kept.recorded.run);
    if let Some((comparison, file)) = &verdict.comparison {
        match global.format {
            // What is printed is the run; the comparison lies beside it.
            FormatArg::Json | FormatArg::Csv => output::say(&format!("written: {}", file.display())),
            _ => compare::tell(global, comparison)?,
        }
        alerts.extend(compare::alerts(comparison, persist.gate.fail_on_regression));
        exit = exit.or(verdict.regression.map_or(Exit::Good, compare::exit));
    }
    alert::send(&persist.gate.alert, &alerts);
    match &verdict.saved {
        Some(Saved::Saved { name, id }) => baseline::tell_saved(global, name, id),
        Some(Saved::Refused { name }) => output::warning(&format!(
            "the baseline '{name}' is as it was: a limit is broken; `host baseline save` keeps the run all the same"
        )),
        None => {}
    }
    Ok(exit)
}

/// How limits end the program, and who is to know of it.
fn tell_limits(limits: &[Held], run: &Run) -> (Exit, Vec<Alert>) {
    let (mut exit, mut alerts) = (Exit::Good, vec![]);
    for Held { limit, cells } in limits {
        if cells.is_empty() {
            output::warning(&format!("limit {limit}: it is about no cell of this run"));
            exit = exit.or(Exit::NoVerdict);
        }
        for (cell, checked) in cells.iter().filter_map(|(place, checked)| Some((run.cells.get(*place)?, checked))) {
            let name = cell.key(run);
            match checked {
                Checked::Kept(_) => {}
                Checked::Broken(value) => {
                    let message = format!("limit {limit} is broken: {value:.4} ({name})");
                    output::error(&message);
                    alerts.push(of_limit(limit, *value, cell, run, &message));
                    exit = exit.or(Exit::Broken);
                }
                Checked::Unknown(why) => {
                    output::warning(&format!("limit {limit}: nothing can be told: {why} ({name})"));
                    exit = exit.or(Exit::NoVerdict);
                }
            }
        }
    }
    (exit, alerts)
}

fn of_limit(limit: &Limit, value: f64, cell: &Cell, run: &Run, message: &str) -> Alert {
    let name = alert_document::CellName {
        plugin: cell.plugin.clone(),
        device: cell.device.clone(),
        model: cell.skill.clone(),
        benchmark: cell.benchmark.clone(),
        axes: cell.axes.to_string(),
        precision: cell.placement.as_ref().and_then(|placement| placement.precision.clone()),
        threads: cell.threads.map(|n| n as i64),
        options: options_text(&cell.options),
        trust: cell.trust().map(|trust| trust.name().to_string()).unwrap_or_default(),
    };
    let figures =
        Figures { metric: limit.metric(), after: Some(value), limit: Some(limit.value()), ..Figures::default() };
    Alert::new(Kind::Limit, &run.environment.machine_label(), name, figures, &run.run_id, message)
}
