//! What a run is held against when it has ended: limits, and a baseline. What looks worse than the baseline is measured again before
//! that is told.

use super::compare::{alerts as regressions, compare_runs, outcome, tell};
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
use skillbench_record::{BackendChoice, CellName, RunRequest};
use skillbench_record::{Cell, Outcome, Run};
use skillbench_results::Stored;
use skillbench_results::compared::Across;
use skillbench_session::{self as session, Begun, names};
use skillbench_stats::compare::{ComparedCell, Comparison, Verdict};
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
    args.save_baseline.as_deref().map(baseline::checked).transpose()?;
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
        baseline::save(name, ended.folder, !global.quiet)?;
    }
    Ok(exit)
}

/// How limits end the program, and who is to know of it.
fn hold_to_limits(limits: &[Limit], run: &Run) -> (Exit, Vec<Alert>) {
    let (mut exit, mut alerts) = (Exit::Good, vec![]);
    for limit in limits {
        let mut about = run
            .cells
            .iter()
            .filter(|cell| limit.is_about(cell) && !matches!(cell.outcome, Outcome::Skipped(_)))
            .peekable();
        if about.peek().is_none() {
            output::warning(&format!("limit {limit}: it is about no cell of this run"));
            exit = exit.or(Exit::NoVerdict);
        }
        for cell in about {
            let name = cell.key(run);
            match limit.check(cell) {
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
    before: &Stored,
    persist: &Persist,
    ended: &Ended<'_>,
) -> Result<Comparison, CommandError> {
    let effect = asked.fail_on_regression.unwrap_or(rules().compare.effect);
    let after = Stored::from_recorded(std::slice::from_ref(ended.recorded)).map_err(failed)?;
    let names = [name, ended.recorded.run.run_id.as_str()];
    let mut first = compare_runs([before, &after], names, Across::default(), effect, ended.request.seed)?;
    // A baseline may hold more than this run was asked for.
    first.cells.retain(|cell| cell.reason.as_ref().is_none_or(|reason| reason.code != "only-before"));
    let suspected: Vec<CellName> = ended
        .recorded
        .run
        .cells
        .iter()
        .filter(|cell| first.cells.iter().any(|compared| is_of(compared, cell) && is_worse(compared)))
        .map(CellName::of)
        .collect();
    if suspected.is_empty() {
        return Ok(first);
    }
    if !global.quiet {
        output::say(&format!("{} cells look slower than {name}, and are measured again", suspected.len()));
    }
    let again = measure_again(global, persist, ended.request, suspected)?;
    let again_stored = Stored::from_recorded(std::slice::from_ref(&again)).map_err(failed)?;
    let second = compare_runs([before, &again_stored], names, Across::default(), effect, ended.request.seed)?;
    confirm(&mut first, &second);
    first.notes.push(format!("what looked worse was measured again in run {}", again.run.run_id));
    Ok(first)
}

fn is_of(compared: &ComparedCell, cell: &Cell) -> bool {
    let device = compared.after.device.as_ref().is_none_or(|device| *device == cell.device);
    compared.model == cell.skill
        && compared.after.plugin == cell.plugin
        && device
        && compared.benchmark == cell.benchmark
        && compared.axes == cell.axes
}

fn is_worse(compared: &ComparedCell) -> bool {
    compared.metrics.iter().any(|metric| metric.verdict.is_worse())
}

/// Runs cells of a request once more, in a run of their own.
fn measure_again(
    global: &Global,
    persist: &Persist,
    request: &RunRequest,
    exactly: Vec<CellName>,
) -> Result<Recorded, CommandError> {
    let mut backends: Vec<BackendChoice> = vec![];
    for cell in &exactly {
        // On the device it ran on, where devices were asked for by name.
        let is_named = |choice: &BackendChoice| choice.plugin == cell.plugin && choice.device.is_some();
        let device = cell.device.clone().filter(|_| request.backends.iter().any(is_named));
        let choice = BackendChoice { plugin: cell.plugin.clone(), device };
        if !backends.contains(&choice) {
            backends.push(choice);
        }
    }
    let request = RunRequest { backends, exactly, ..request.clone() };
    let inventory = Inventory::take(&global.sources());
    let plan = run::plan(&inventory, request).map_err(usage)?;
    let begun = Begun::new(&persist.output_dir, &plan, typed()).map_err(failed)?;
    let progress = Progress::new(global.quiet, global.debug, plan.cells.len(), names(&plan));
    let recorded = session::measure(&plan, &begun, vec![Box::new(progress)]).map_err(failed)?;
    persist.keep(global, &begun.folder, &recorded)?;
    Ok(recorded)
}

/// What looked worse counts only where the second measurement shows it too.
fn confirm(first: &mut Comparison, second: &Comparison) {
    for cell in &mut first.cells {
        let same = |other: &&ComparedCell| {
            (&other.benchmark, &other.axes, &other.before, &other.after.model, &other.after.device)
                == (&cell.benchmark, &cell.axes, &cell.before, &cell.after.model, &cell.after.device)
        };
        let again = second.cells.iter().find(same);
        for metric in cell.metrics.iter_mut().filter(|metric| metric.verdict.is_worse()) {
            let found = again.and_then(|again| again.metrics.iter().find(|other| other.metric == metric.metric));
            match found {
                Some(other) if other.verdict == metric.verdict => {
                    metric.run.clone_from(&second.after.run);
                    metric.first = Some(std::mem::replace(&mut metric.evidence, other.evidence.clone()));
                    metric.reason = format!("twice, {}", other.reason);
                }
                found => {
                    let what = found.map_or("not measured", |other| other.verdict.name());
                    metric.reason = format!("{} at first, {what} when measured again", metric.verdict.name());
                    metric.verdict = Verdict::Unclear;
                    if let Some(other) = found {
                        metric.run.clone_from(&second.after.run);
                        metric.first = Some(std::mem::replace(&mut metric.evidence, other.evidence.clone()));
                    }
                }
            }
        }
    }
}
