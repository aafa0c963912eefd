//! `host recommend`: which hardware to take, with the evidence. `analysis`: the best over all that was measured.

mod analysis;

use super::forecast::{bench_of, form, models_asked, read, tell_other_machines};
use super::{Done, Exit, failed, usage};
use crate::cli::{Global, RecommendArgs};
use crate::output;
use skillbench_engine::skill::Tell;
use skillbench_report::{Cell, Format, Table};
use skillbench_results::questions::Goal;
use skillbench_session::forecast::{Asked, Bench, Candidate, Cells, Evidence, Models, Within, answers, rank};
use std::collections::BTreeSet;

pub fn recommend(global: &Global, args: &RecommendArgs) -> Done {
    let limits: Vec<Within> =
        args.within.iter().map(|text| Within::parse(text)).collect::<Result<_, _>>().map_err(usage)?;
    let database = args.about.stored.whole(global)?;
    let cells = read(&database)?;
    let mut inventory = global.inventory();
    if !global.quiet {
        inventory.tell = Tell(output::say);
    }
    let mut models = Models::new(inventory.catalog());
    let mut asked = models_asked(&mut models, &args.about, &cells, false)?;
    let bench = bench_of(&cells, &args.about, &models, &inventory, global)?;
    if args.about.batch_size.is_empty() && args.about.sequence_length.is_empty() {
        asked.iter_mut().for_each(|one| bench.take_measured_points(one));
    }
    let all = answers(&bench, &cells, &asked);
    let goal = Goal::from(args.optimize);
    let ranked = rank(&all, goal, &limits);
    let mut parts = vec![("ranking", "Which hardware to take", table(&ranked))];
    if args.optimal_hardware_analysis {
        if args.about.model.is_empty() {
            parts.clear();
        }
        parts.extend(analysis::parts(&database, &bench.machine, &asked, goal)?);
    }
    let form = form(global, args.output.as_deref());
    if form == Format::Csv && parts.len() > 1 {
        return Err(usage("a CSV file holds one table, and this analysis has several: take .md, .html or .json"));
    }
    let text = render(&parts, form, args.output.as_deref());
    match &args.output {
        None => output::print(&text),
        Some(file) => output::to_file(file, text.as_bytes()).map_err(failed)?,
    }
    Ok(verdict(global, args, &bench, &cells, &models, &asked, &ranked))
}

fn table(ranked: &[Candidate]) -> Table {
    let mut table = Table::new([
        "model",
        "axes",
        "precision",
        "rank",
        "hardware",
        "threads",
        "evidence",
        "figure",
        "unit",
        "low",
        "high",
        "run",
        "date",
        "newer_try",
        "within",
        "note",
    ])
    .least(["run", "newer_try", "date", "within", "low", "high", "threads", "precision", "note", "axes"]);
    for one in ranked {
        table.row([
            Cell::text(&one.model),
            Cell::text(&one.axes),
            Cell::maybe(one.precision.clone(), Cell::from),
            Cell::maybe(one.rank.map(|rank| rank as u64), Cell::count),
            Cell::text(&one.hardware),
            Cell::maybe(one.threads, Cell::count),
            one.evidence.name().into(),
            Cell::maybe(one.value, Cell::number),
            one.unit.into(),
            Cell::maybe(one.interval.map(|ends| ends.0), Cell::number),
            Cell::maybe(one.interval.map(|ends| ends.1), Cell::number),
            Cell::maybe(one.run.clone(), Cell::from),
            Cell::maybe(one.date.clone(), Cell::from),
            Cell::maybe(one.newer.clone(), Cell::from),
            Cell::maybe(one.within.clone(), Cell::from),
            Cell::maybe(Some(one.note.clone()).filter(|note| !note.is_empty()), Cell::from),
        ]);
    }
    table
}

fn render(parts: &[(&str, &str, Table)], form: Format, file: Option<&std::path::Path>) -> String {
    let shown = |table: &Table| {
        let mut table = table.clone();
        table.keep_columns(|_, cells| cells.iter().any(|cell| !cell.value.is_null()));
        table
    };
    match (form, parts) {
        (Format::Json | Format::Csv | Format::Html, [(_, _, one)]) => one.render(form),
        (Format::Table, [(_, _, one)]) => output::drawn(&shown(one), form, file),
        (Format::Json, _) => {
            let part = |(name, _, table): &(&str, &str, Table)| format!("{name:?}: {}", table.render(form).trim_end());
            format!("{{\n{}\n}}\n", parts.iter().map(part).collect::<Vec<_>>().join(",\n"))
        }
        (Format::Csv, _) => parts.first().map(|(_, _, table)| table.render(form)).unwrap_or_default(),
        _ => {
            let part = |(_, title, table): &(&str, &str, Table)| {
                let text = match table.rows.is_empty() {
                    true => "Nothing.\n".into(),
                    false => output::drawn(&shown(table), form, file),
                };
                if form == Format::Html { format!("<h2>{title}</h2>\n{text}") } else { format!("## {title}\n\n{text}") }
            };
            parts.iter().map(part).collect::<Vec<_>>().join("\n")
        }
    }
}

/// In words what comes first, what could not be ranked, and how the command ends.
fn verdict(
    global: &Global,
    args: &RecommendArgs,
    bench: &Bench,
    cells: &Cells,
    models: &Models,
    asked: &[Asked],
    ranked: &[Candidate],
) -> Exit {
    let only_analysis = args.optimal_hardware_analysis && args.about.model.is_empty();
    if !global.quiet && !only_analysis {
        ranked.iter().filter(|one| one.rank == Some(1)).for_each(|one| output::say(&one.describe()));
        let aside: BTreeSet<&str> = ranked
            .iter()
            .filter(|one| {
                matches!(
                    one.evidence,
                    Evidence::Emulated | Evidence::Unverified | Evidence::Remote | Evidence::Implausible
                )
            })
            .map(|one| one.hardware.as_str())
            .collect();
        if !aside.is_empty() {
            let aside = aside.into_iter().collect::<Vec<_>>().join(", ");
            output::say(&format!("not ranked, being emulated, unverified or remote: {aside}"));
        }
    }
    if ranked.iter().any(|one| one.rank.is_some()) {
        return Exit::Good;
    }
    if ranked.iter().any(|one| one.breaks) {
        output::say("nothing that is measured or can be predicted keeps the limit");
        return Exit::Broken;
    }
    match ranked.iter().any(|one| one.value.is_some() && one.within.is_some()) {
        true => output::say("not enough data: nothing is known to keep the limit"),
        false => output::say(&format!("not enough data: there is nothing to rank on {}", bench.machine_label)),
    }
    tell_other_machines(bench, cells);
    let names: Vec<&str> = match asked {
        [] => models.to_measure(&BTreeSet::new(), "", 3),
        asked => asked.iter().take(3).map(|one| one.model.as_str()).collect(),
    };
    output::say(&format!("measure: host run --bench inference --plugin all --model {}", names.join(",")));
    Exit::NoVerdict
}
