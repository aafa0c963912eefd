//! `host trend`: since when something is slower, and what changed then.

use super::stored::refused;
use super::{CommandError, Done, Exit, alert, failed, usage};
use crate::cli::{FormatArg, Global, TrendArgs};
use crate::output;
use skillbench_engine::alert::{Alert, CellName, Figures, Kind};
use skillbench_record::catalog::Better;
use skillbench_record::suggest::did_you_mean;
use skillbench_record::time::moment;
use skillbench_record::time::now_utc;
use skillbench_report::sections::trend as shown;
use skillbench_report::{Cell, Table};
use skillbench_results::StoredError;
use skillbench_results::trend::{self, Change, Found, Judged, Measure};
use skillbench_session::which::Named;
use skillbench_stats::rules;
use skillbench_store::database::{Filter, text_literal};
use skillbench_store::{Database, DatabaseError};

pub fn trend(global: &Global, args: &TrendArgs) -> Done {
    let place = args.stored.place(global);
    let is_there = place.database.exists();
    let of_plugins = match is_there && !args.metric.is_empty() {
        true => trend::plugin_metrics(&place.database).map_err(failed)?,
        false => vec![],
    };
    if args.metric == ["list"] {
        output::table(&metrics_table(&of_plugins), global.format.into());
        return Ok(Exit::Good);
    }
    let metrics = metrics(&args.metric, &of_plugins)?;
    if !is_there && place.named == Named::Nothing {
        return no_verdict(&format!(
            "there is no database {} yet: `host run` makes it",
            place.database.path().display()
        ));
    }
    let database = place.whole().map_err(refused)?;
    let now = moment(&now_utc()).unwrap_or_default();
    let looked = filter(database, args).and_then(|filter| {
        let metrics = (!metrics.is_empty()).then_some(metrics.as_slice());
        trend::of_database(database, &filter, metrics, now).map_err(describe)
    });
    let found = match looked {
        Ok(found) => found,
        Err(CommandError::Failed(why)) => return no_verdict(&why),
        Err(error) => return Err(error),
    };
    let told: Vec<(&Judged, &Change)> = found
        .judged
        .iter()
        .flat_map(|one| one.changes.iter().flatten().map(move |change| (one, change)))
        .filter(|(one, change)| is_since(args, one, change))
        .collect();
    print(global, args, &found, &told)?;
    if let Some(why) = untold(&found) {
        return no_verdict(&why);
    }
    let worse: Vec<Alert> = told
        .iter()
        .filter(|(_, change)| change.newest && change.worse)
        .filter_map(|(one, change)| of(one, change))
        .collect();
    alert::send(&args.alert, &worse);
    Ok(if args.fail_on_change && !worse.is_empty() { Exit::Broken } else { Exit::Good })
}

fn no_verdict(why: &str) -> Done {
    output::error(why);
    Ok(Exit::NoVerdict)
}

/// A condition that is refused is a slip of whoever wrote it; a database that cannot be read lets nobody tell.
fn describe(error: StoredError) -> CommandError {
    match error {
        StoredError::Database(DatabaseError::Sql(_)) => usage(error),
        other => failed(other),
    }
}

fn is_since(args: &TrendArgs, judged: &Judged, change: &Change) -> bool {
    let began = change.point(&judged.history).map(|point| point.time);
    args.since.is_none_or(|since| began.is_some_and(|began| began >= since))
}

/// The metrics that are asked for: of the catalogue, or those that plugins added to what is stored.
fn metrics(names: &[String], known: &[Measure]) -> Result<Vec<Measure>, CommandError> {
    let mut asked = vec![];
    for name in names {
        let of_plugins = || known.iter().filter(|measure| measure.name == *name).cloned();
        let found: Vec<Measure> = trend::metric(name).map_or_else(|| of_plugins().collect(), |metric| vec![metric]);
        if found.is_empty() {
            return Err(unknown(name, known));
        }
        asked.extend(found);
    }
    Ok(asked)
}

fn unknown(name: &str, of_plugins: &[Measure]) -> CommandError {
    let all: Vec<String> = trend::metrics().chain(of_plugins.iter().cloned()).map(|measure| measure.name).collect();
    let near = did_you_mean(name, all.iter().map(String::as_str));
    usage(format!("no metric '{name}'{near}; there are: {}", all.join(", ")))
}

fn metrics_table(of_plugins: &[Measure]) -> Table {
    let mut table = Table::new(["metric", "unit", "better", "column"]);
    let of_catalogue = trend::metrics().map(|metric| (Some(metric.column.clone()), metric));
    for (column, metric) in of_catalogue.chain(of_plugins.iter().map(|metric| (None, metric.clone()))) {
        let better = match metric.better {
            Better::Lower => Some("less"),
            Better::Higher => Some("more"),
            Better::Neither => None,
        };
        table.row([
            metric.name.into(),
            metric.unit.into(),
            Cell::maybe(better, Cell::from),
            Cell::maybe(column, Cell::from),
        ]);
    }
    table
}

/// What is asked for, as a condition. A name that nothing is stored under is told, with those that are near.
fn filter(database: &Database, args: &TrendArgs) -> Result<Filter, CommandError> {
    let mut all: Vec<String> = args.condition.iter().map(|condition| format!("({condition}\n)")).collect();
    for (what, column, names) in [
        ("model", "model_id", &args.model),
        ("backend", "plugin", &args.plugin),
        ("benchmark", "benchmark", &args.bench),
    ] {
        if names.is_empty() {
            continue;
        }
        let stored = database.query(&format!("SELECT DISTINCT {column} FROM benchmark_results")).map_err(failed)?;
        let stored: Vec<&str> = stored.rows.iter().filter_map(|row| row.first()?.as_str()).collect();
        // A benchmark is also meant by the plugin it is of: throughput for throughput-load.
        let begins = |stored: &str, name: &str| column == "benchmark" && stored.starts_with(&format!("{name}-"));
        let meant =
            |name: &str| stored.iter().copied().filter(|one| *one == name || begins(one, name)).collect::<Vec<_>>();
        if let Some(unknown) = names.iter().find(|name| meant(name).is_empty()).filter(|_| !stored.is_empty()) {
            let near = did_you_mean(unknown, stored.iter().copied());
            return Err(usage(format!("nothing is stored of the {what} '{unknown}'{near}")));
        }
        let names: Vec<String> = names.iter().flat_map(|name| meant(name)).map(text_literal).collect();
        all.push(if names.is_empty() { "false".into() } else { format!("{column} IN ({})", names.join(", ")) });
    }
    Ok(if all.is_empty() { Filter::all() } else { Filter::sql(&all.join(" AND ")) })
}

/// Why nothing could be told; `None`: at least one history was judged.
fn untold(found: &Found) -> Option<String> {
    if found.judged.iter().any(|one| one.changes.is_some()) {
        return None;
    }
    let least = rules().trend.rules.least_runs;
    Some(match found.judged.iter().map(|one| one.history.points.len()).max() {
        None => "nothing that was asked for has been measured: `host run` measures and stores it".into(),
        Some(longest) => format!(
            "no history is long enough to be judged: the longest of {} has {longest} of {least} runs; run the same again, `host run ...`, {} more times",
            found.judged.len(),
            least - longest
        ),
    })
}

/// One sentence: how much was looked at, and what came of it.
fn summary(found: &Found, told: &[(&Judged, &Change)]) -> String {
    let (judged, short): (Vec<&Judged>, Vec<&Judged>) = found.judged.iter().partition(|one| one.changes.is_some());
    let histories = |n: usize| if n == 1 { "1 history".to_string() } else { format!("{n} histories") };
    let mut text = match told.len() {
        0 => format!("no change found in {}", histories(judged.len())),
        1 => format!("1 change in {}", histories(judged.len())),
        n => format!("{n} changes in {}", histories(judged.len())),
    };
    if !short.is_empty() {
        let longest = short.iter().map(|one| one.history.points.len()).max().unwrap_or_default();
        let least = rules().trend.rules.least_runs;
        text += &format!("; {} too short to be judged, with at most {longest} of {least} runs", histories(short.len()));
    }
    text
}

fn print(global: &Global, args: &TrendArgs, found: &Found, told: &[(&Judged, &Change)]) -> Result<(), CommandError> {
    let summary = summary(found, told);
    let table = || shown::table(told, matches!(global.format, FormatArg::Csv));
    let notes_apart = !matches!(global.format, FormatArg::Json | FormatArg::Markdown);
    let text = match global.format {
        FormatArg::Json => {
            let passes = |one: &Judged, change: &Change| is_since(args, one, change);
            format!("{:#}\n", trend::json(&found.judged, &found.notes, &passes))
        }
        FormatArg::Markdown => shown::markdown(&summary, &found.notes, told),
        FormatArg::Table if told.is_empty() && untold(found).is_none() => format!("{summary}\n"),
        FormatArg::Table if told.is_empty() => String::new(),
        format => output::drawn(&table(), format.into(), args.output.as_deref()),
    };
    match &args.output {
        None => output::print(&text),
        Some(file) => output::to_file(file, text.as_bytes()).map_err(failed)?,
    }
    if notes_apart {
        if !told.is_empty() && !global.quiet {
            output::say(&summary);
        }
        found.notes.iter().for_each(|note| output::warning(note));
    }
    Ok(())
}

fn of(judged: &Judged, change: &Change) -> Option<Alert> {
    let (history, of) = (&judged.history, &judged.history.of);
    let cell = CellName {
        plugin: of.plugin.clone(),
        device: of.device_id.clone(),
        model: of.model_id.clone(),
        benchmark: of.benchmark.clone(),
        axes: of.axes.clone(),
        precision: of.precision.clone(),
        threads: of.threads,
        options: of.options.clone(),
        trust: of.trust.clone(),
    };
    let figures = Figures {
        metric: history.metric.name.clone(),
        unit: history.metric.unit.clone(),
        before: Some(change.before.median),
        before_n: Some(change.before.n as u64),
        after: Some(change.after.median),
        after_n: Some(change.after.n as u64),
        ratio: Some(change.ratio),
        p: Some(change.p),
        ..Figures::default()
    };
    let run = &change.point(history)?.run;
    Some(Alert::new(Kind::Change, &of.machine, cell, figures, run, &shown::sentence(judged, change)))
}
