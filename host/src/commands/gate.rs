//! What a run is held against when it has ended: limits, and a baseline. What looks worse than the baseline is measured again before
//! that is told.

use super::compare::{alerts as regressions, outcome, tell};
use super::persist::Persist;
use super::stored::Chosen;
use super::typed::typed;
use super::{CommandError, Exit, alert, baseline, failed, usage};
use crate::cli::{AlertArgs, FormatArg, GateArgs, Global, Stored as Place, WhichRuns};
use crate::output;
use crate::progress::Progress;
use skillbench_engine::alert::{self as alert_document, Alert, Figures, Kind};
use skillbench_engine::run::{self, Inventory};
use skillbench_record::catalog::{Checked, Limit};
use skillbench_record::options_text;
use skillbench_record::{Cell, Run, RunRequest};
use skillbench_results::Stored;
use skillbench_results::compared::Across;
use skillbench_session::baseline::check_name;
use skillbench_session::compare::Rules;
use skillbench_session::gate::{self, Against, Held};
use skillbench_session::{self as session, Begun, names};
use skillbench_stats::compare::Comparison;
use skillbench_stats::rules;
use skillbench_store::Recorded;
use std::path::Path;

/// A run that has ended.
pub struct Ended<'a> {
    pub request: &'a RunRequest,
    pub folder: &'a Path,
    pub recorded: &'a Recorded,
}

/// What was asked for before anything is measured: a slip costs nothing yet.
pub struct Asked {
    alert: AlertArgs,
    limits: Vec<Limit>,
    baseline: Option<(String, Stored)>,
    fail_on_regression: Option<f64>,
    save: Option<String>,
}

/// Reads what a run is to be held against.
///
/// # Errors
/// A limit that says nothing, or a baseline that is not there.
pub fn asked(global: &Global, args: &GateArgs, persist: &Persist) -> Result<Asked, CommandError> {
    let limits = args.limit.iter().map(|text| text.parse::<Limit>().map_err(usage)).collect::<Result<_, _>>()?;
    let read = |name: &String| {
        let stored = Place {
            db: persist.database.as_ref().map(|db| db.path().to_path_buf()),
            results_dir: persist.output_dir.clone(),
        };
        let which = WhichRuns { stored, run: vec![name.clone()], ..WhichRuns::default() };
        let Chosen { stored, .. } = which.read(global).map_err(|error| match error {
            CommandError::Usage(text) => {
                usage(format!("baseline: {text}; `host baseline list` lists those of this machine"))
            }
            other => other,
        })?;
        Ok::<_, CommandError>((name.clone(), stored))
    };
    let baseline = args.baseline.as_ref().map(read).transpose()?;
    args.save_baseline.as_deref().map(check_name).transpose().map_err(baseline::refused)?;
    let alert = args.alert.clone();
    Ok(Asked { alert, limits, baseline, fail_on_regression: args.fail_on_regression, save: args.save_baseline.clone() })
}

/// Holds a run against what was asked for, and tells.
///
/// # Errors
/// What could not be read, measured again or kept.
pub fn hold(global: &Global, asked: &Asked, persist: &Persist, ended: &Ended<'_>) -> Result<Exit, CommandError> {
    let (mut exit, mut alerts) = hold_to_limits(&asked.limits, &ended.recorded.run);
    if let Some((name, before)) = &asked.baseline {
        let comparison = hold_to_baseline(global, asked, name, before, persist, ended)?;
        let file = ended.folder.join("comparison.json");
        output::write(&file, &serde_json::to_vec_pretty(&comparison).map_err(failed)?).map_err(failed)?;
        match global.format {
            // What is printed is the run; the comparison lies beside it.
            FormatArg::Json | FormatArg::Csv => output::say(&format!("written: {}", file.display())),
            _ => tell(global, &comparison)?,
        }
        alerts.extend(regressions(&comparison, asked.fail_on_regression));
        if asked.fail_on_regression.is_some() {
            exit = exit.or(outcome(&comparison.cells, asked.fail_on_regression));
        }
    }
    alert::send(&asked.alert, &alerts);
    if let Some(name) = asked.save.as_ref().filter(|_| exit == Exit::Broken) {
        output::warning(&format!(
            "the baseline '{name}' is as it was: a limit is broken; `host baseline save` keeps the run all the same"
        ));
    } else if let Some(name) = &asked.save {
        baseline::save(global, name, ended.folder)?;
    }
    Ok(exit)
}

/// How limits end the program, and who is to know of it.
fn hold_to_limits(limits: &[Limit], run: &Run) -> (Exit, Vec<Alert>) {
    let (mut exit, mut alerts) = (Exit::Good, vec![]);
    for Held { limit, cells } in gate::limits(limits, run) {
        if cells.is_empty() {
            output::warning(&format!("limit {limit}: it is about no cell of this run"));
            exit = exit.or(Exit::NoVerdict);
        }
        for (cell, checked) in cells {
            let name = cell.key(run);
            match checked {
                Checked::Kept(_) => {}
                Checked::Broken(value) => {
                    let message = format!("limit {limit} is broken: {value:.4} ({name})");
                    output::error(&message);
                    alerts.push(of_limit(limit, value, cell, run, &message));
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

fn hold_to_baseline(
    global: &Global,
    asked: &Asked,
    name: &str,
    baseline: &Stored,
    persist: &Persist,
    ended: &Ended<'_>,
) -> Result<Comparison, CommandError> {
    let rules = Rules {
        across: Across::default(),
        effect: asked.fail_on_regression.unwrap_or(rules().compare.effect),
        seed: ended.request.seed,
        command: typed(),
    };
    let against = Against { name, baseline, recorded: ended.recorded, rules };
    let (first, suspected) = against.first().map_err(failed)?;
    if suspected.is_empty() {
        return Ok(first);
    }
    if !global.quiet {
        output::say(&format!("{} cells look slower than {name}, and are measured again", suspected.len()));
    }
    let again = measure_again(global, persist, gate::again(ended.request, suspected))?;
    against.confirmed(first, &again).map_err(failed)
}

/// Runs cells once more, in a run of their own.
fn measure_again(global: &Global, persist: &Persist, request: RunRequest) -> Result<Recorded, CommandError> {
    let inventory = Inventory::take(&global.sources());
    let plan = run::plan(&inventory, request).map_err(usage)?;
    let begun = Begun::new(&persist.output_dir, &plan, typed()).map_err(failed)?;
    let progress = Progress::new(global.quiet, global.debug, plan.cells.len(), names(&plan));
    let recorded = session::measure(&plan, &begun, vec![Box::new(progress)]).map_err(failed)?;
    persist.keep(global, &begun.folder, &recorded)?;
    Ok(recorded)
}
