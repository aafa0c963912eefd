//! A comparison as a table, as a sentence, and as an exit code.

use crate::commands::Exit;
use skillbench_report::page::Tone;
use skillbench_report::{Cell, Table};
use skillbench_session::compare::gate_of;
use skillbench_stats::compare::{ComparedCell, ComparedMetric, Comparison, Gate, Subject, Verdict};
/// One row for each metric of each cell, and one for each cell that is not compared.
pub fn table(comparison: &Comparison) -> Table {
    let mut table = Table::new([
        "model",
        "benchmark",
        "axes",
        "before",
        "after",
        "metric",
        "value_before",
        "value_after",
        "ratio",
        "low",
        "high",
        "verdict",
        "why",
    ]);
    for cell in &comparison.cells {
        let head = |metric: Cell| {
            [
                Cell::text(&cell.model),
                Cell::text(&cell.benchmark),
                Cell::from(cell.axes.to_string()),
                Cell::text(name(&cell.before, &cell.after, &comparison.before.name)),
                match &cell.side {
                    Some(side) => Cell::text(side),
                    None => Cell::text(name(&cell.after, &cell.before, &comparison.after.name)),
                },
                metric,
            ]
        };
        if let Some(reason) = &cell.reason {
            let rest = [Cell::none(), Cell::none(), Cell::none(), Cell::none(), Cell::none(), "not compared".into()];
            let row = head(Cell::none()).into_iter().chain(rest).chain([Cell::text(&reason.message)]);
            table.rows.push(row.collect());
        }
        for metric in &cell.metrics {
            let ComparedMetric { metric: what, evidence, .. } = metric;
            let [low, high] = evidence.interval.map_or([None, None], |[low, high]| [Some(low), Some(high)]);
            let rest = [
                Cell::number(evidence.before),
                Cell::number(evidence.after),
                ratio(evidence.ratio),
                Cell::maybe(low, ratio),
                Cell::maybe(high, ratio),
                metric.verdict.name().into(),
                why(cell, metric).into(),
            ];
            table.rows.push(head(Cell::text(&what.name)).into_iter().chain(rest).collect());
        }
    }
    table
}

/// What people see first: what changed, then what is undecided, then what is the same; in each the greatest difference first.
const ORDER: [Verdict; 6] =
    [Verdict::Slower, Verdict::More, Verdict::Faster, Verdict::Less, Verdict::Unclear, Verdict::Same];

/// The comparison for people: a table with a group for each verdict and model, and a sentence for each reason in it.
pub fn view(comparison: &Comparison) -> (Table, Vec<String>) {
    let columns = ["verdict", "on", "at", "metric", "before", "after", "times (95% interval)", "why"];
    let mut table = Table::new(columns).least(["after", "before"]);
    table.grouped = true;
    let mut reasons = Reasons::default();
    for verdict in ORDER {
        let all = comparison.cells.iter().flat_map(|cell| cell.metrics.iter().map(move |metric| (cell, metric)));
        let mut of: Vec<_> = all.filter(|(_, metric)| metric.verdict == verdict).collect();
        let size = |metric: &ComparedMetric| metric.evidence.ratio.ln().abs();
        of.sort_by(|(_, one), (_, other)| size(other).total_cmp(&size(one)));
        let mut models: Vec<&str> = vec![];
        of.iter().for_each(|(cell, _)| {
            if !models.contains(&cell.model.as_str()) {
                models.push(&cell.model);
            }
        });
        for model in models {
            for (cell, metric) in of.iter().filter(|(cell, _)| cell.model == model) {
                let row = row(cell, metric, reasons.number(why(cell, metric)));
                table.rows.push(std::iter::once(format!("{}: {model}", verdict.name()).into()).chain(row).collect());
            }
        }
    }
    comparison.cells.iter().filter_map(|cell| cell.reason.as_ref()).for_each(|reason| {
        reasons.number(format!("not compared: {}", reason.message));
    });
    (table, reasons.sentences())
}

/// A metric of a cell, after its heading.
fn row(cell: &ComparedCell, metric: &ComparedMetric, reason: usize) -> [Cell; 7] {
    let evidence = &metric.evidence;
    let on = match &cell.side {
        Some(side) => format!("{} → {side}", cell.before.plugin),
        None if cell.before.plugin == cell.after.plugin => cell.before.plugin.clone(),
        None => format!("{} → {}", cell.before.plugin, cell.after.plugin),
    };
    let at = match cell.benchmark.as_str() {
        "inference" => cell.axes.to_string(),
        benchmark => format!("{benchmark} {}", cell.axes),
    };
    let times = match evidence.interval {
        Some([low, high]) => format!("{:.3} ({low:.3} to {high:.3})", evidence.ratio),
        None => format!("{:.3}", evidence.ratio),
    };
    let times = Cell::new(evidence.ratio, times);
    [
        on.into(),
        at.into(),
        Cell::text(&metric.metric.name),
        Cell::number(evidence.before),
        Cell::number(evidence.after),
        match metric.verdict {
            Verdict::Slower | Verdict::More => times.tone(Tone::Bad),
            Verdict::Faster | Verdict::Less => times.tone(Tone::Good),
            Verdict::Unclear => times.tone(Tone::Warn),
            Verdict::Same => times,
        },
        if reason == 0 { "".into() } else { format!("({reason})").into() },
    ]
}

/// Reasons, each told once with how often it holds.
#[derive(Default)]
struct Reasons(Vec<(String, usize)>);

impl Reasons {
    /// From 1; 0 for no reason.
    fn number(&mut self, reason: String) -> usize {
        if reason.is_empty() {
            return 0;
        }
        let place = self.0.iter().position(|(known, _)| *known == reason).unwrap_or_else(|| {
            self.0.push((reason, 0));
            self.0.len() - 1
        });
        self.0[place].1 += 1;
        place + 1
    }

    fn sentences(self) -> Vec<String> {
        let told = |(place, (reason, count)): (usize, (String, usize))| match count {
            1 => format!("({}) {reason}", place + 1),
            _ => format!("({}) {count} times: {reason}", place + 1),
        };
        self.0.into_iter().enumerate().map(told).collect()
    }
}

fn why(cell: &ComparedCell, metric: &ComparedMetric) -> String {
    let run = metric.run.as_ref().map(|run| format!("after is run {run}"));
    cell.labels.iter().cloned().chain(run).chain([metric.reason.clone()]).collect::<Vec<_>>().join("; ")
}

fn ratio(value: f64) -> Cell {
    Cell::new(value, format!("{value:.3}"))
}

/// What ran, and where the other is called the same, as it was named.
fn name(this: &Subject, other: &Subject, named: &str) -> String {
    match this.plugin == other.plugin && this.plugin != named {
        true => format!("{} ({named})", this.plugin),
        false => this.plugin.clone(),
    }
}

/// "3 comparisons: 1 slower (latency_ms of bert-tiny by 10.2%), 2 same".
pub fn sentence(comparison: &Comparison) -> String {
    let all = || comparison.cells.iter().flat_map(|cell| cell.metrics.iter().map(move |metric| (cell, metric)));
    let mut parts = vec![];
    for verdict in [Verdict::Slower, Verdict::More, Verdict::Faster, Verdict::Less, Verdict::Same, Verdict::Unclear] {
        let of: Vec<_> = all().filter(|(_, metric)| metric.verdict == verdict).collect();
        if !of.is_empty() {
            parts.push(format!("{} {}", of.len(), verdict.name()));
        }
    }
    let refused = comparison.cells.iter().filter(|cell| cell.reason.is_some()).count();
    if refused > 0 {
        parts.push(format!("{refused} not compared"));
    }
    match parts.is_empty() {
        true => "nothing was compared".into(),
        false => parts.join(", "),
    }
}

/// The exit code of a comparison. With a limit on regressions: 1 where one is confirmed, 3 where that cannot be told of something.
/// Without: 3 where nothing could be told at all.
pub fn outcome(cells: &[ComparedCell], most: Option<f64>) -> Exit {
    let metrics = || cells.iter().flat_map(|cell| &cell.metrics);
    let Some(most) = most else {
        let told = metrics().any(|metric| metric.verdict != Verdict::Unclear);
        return if told { Exit::Good } else { Exit::NoVerdict };
    };
    exit(gate_of(cells, most))
}

/// How a limit on regressions ends the program.
pub fn exit(gate: Gate) -> Exit {
    match gate {
        Gate::Broken => Exit::Broken,
        Gate::Unclear => Exit::NoVerdict,
        Gate::Kept => Exit::Good,
    }
}
