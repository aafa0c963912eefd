//! Charts of what should not come, and does.

use skillbench_charts::{
    Bar, Bars, Bins, Cell, CellState, CellValue, Chart, Distribution, Dot, Estimate, Head, Heading, HeatMap, Lines,
    Pair, Pairs, Part, Point, Scatter, Series, Stack, Stacked, Trend,
};

use crate::Gallery;

const LONG: &str = "a-model-whose-name-was-made-by-joining-all-of-its-training-settings/with-a-hyphen-between-them-until-nobody-can-read-it-any-more";
const SCRIPT: &str = "<script>alert(\"1\")</script> & 'more' ]]>";

fn head(title: &str) -> Head {
    Head { title: title.to_owned(), subtitle: "made of what should not come".to_owned(), ..Head::default() }
}

pub fn charts() -> Gallery {
    Ok(vec![
        ("nasty-empty", Chart::Bars(Bars { head: head("Nothing at all"), ..Bars::default() })),
        ("nasty-bars", bars()),
        ("nasty-many", many()),
        ("nasty-lines", lines()),
        ("nasty-point", point()),
        ("nasty-trend", trend()),
        ("nasty-heat-map", heat_map()),
        ("nasty-wide-heat-map", wide()),
        ("nasty-scatter", scatter()),
        ("nasty-stacked", stacked()),
        ("nasty-pairs", pairs()),
        ("nasty-distribution", distribution()),
    ])
}

fn estimate(value: f64) -> Estimate {
    Estimate::within(value, value - 1.0, value + 1.0)
}

fn bars() -> Chart {
    let rows = [
        ("x", 1.0),
        (LONG, 12_345.678),
        (SCRIPT, 0.0),
        ("negative", -3000.0),
        ("NaN", f64::NAN),
        ("infinite", f64::INFINITY),
        ("", 7e-9),
    ];
    let bars = rows.into_iter().map(|(label, value)| Bar {
        label: label.to_owned(),
        sublabel: if label == "x" { LONG.to_owned() } else { String::new() },
        estimate: estimate(value),
        hardware: "made-up".to_owned(),
        note: if value.is_finite() { LONG.to_owned() } else { String::new() },
        ..Bar::default()
    });
    let head = Head {
        title: LONG.repeat(3),
        subtitle: format!("{SCRIPT} {}", "word ".repeat(90)),
        source: LONG.repeat(2),
        id: None,
        titled: false,
    };
    Chart::Bars(Bars { head, unit: "ms".to_owned(), bars: bars.collect(), ..Bars::default() })
}

fn many() -> Chart {
    let bars = (0..200).map(|index| Bar {
        label: format!("model {index}"),
        estimate: Estimate::of(1.03_f64.powi(index)),
        hardware: ["cpu", "cuda", "rocm"][index as usize % 3].to_owned(),
        emulated: index % 7 == 0,
        ..Bar::default()
    });
    Chart::Bars(Bars { head: head("200 bars"), unit: "ms".to_owned(), bars: bars.collect(), ..Bars::default() })
}

fn series(name: &str, points: &[(f64, f64)]) -> Series {
    Series {
        name: name.to_owned(),
        hardware: name.to_owned(),
        points: points.iter().map(|(x, y)| Point { x: *x, estimate: Estimate::of(*y) }).collect(),
        ..Series::default()
    }
}

fn lines() -> Chart {
    let series = vec![
        series(LONG, &[(0.0, 5.0), (1.0, f64::NAN), (1000.0, 5.0), (f64::NAN, 3.0)]),
        series(SCRIPT, &[(1.0, 5.0), (2.0, 5.0), (3.0, 5.0), (1024.0, 5.0)]),
        series("negative", &[(1.0, -5.0), (512.0, 4.99)]),
        series("none", &[]),
    ];
    Chart::Lines(Lines {
        head: head("Lines with gaps"),
        x_label: LONG.to_owned(),
        y_label: LONG.to_owned(),
        series,
        ..Lines::default()
    })
}

fn point() -> Chart {
    let series = vec![series("cpu", &[(8.0, 12.5)])];
    let (x_label, y_label) = ("batch size".to_owned(), "latency, ms".to_owned());
    Chart::Lines(Lines { head: head("One point"), x_label, y_label, unit: "ms".to_owned(), series, ..Lines::default() })
}

fn trend() -> Chart {
    let series = (0..30).map(|index| {
        series(
            &format!("series {index}"),
            &[(1.77e9, f64::from(index)), (1.77e9 + 30.0, f64::from(index) + 0.5), (1e18, 4.0)],
        )
    });
    Chart::Trend(Trend {
        head: head("Thirty seconds of thirty series"),
        y_label: "ms".to_owned(),
        series: series.collect(),
        ..Trend::default()
    })
}

fn heat_map() -> Chart {
    let value = |text: &str, ratio: f64| Cell {
        state: CellState::Value(CellValue {
            text: text.to_owned(),
            ratio: Some(ratio),
            ratio_text: format!("{ratio}×"),
            ..CellValue::default()
        }),
        ..Cell::default()
    };
    let failed = Cell { state: CellState::Failed { reason: LONG.to_owned() }, ..Cell::default() };
    let heading = |label: &str| Heading { label: label.to_owned(), ..Heading::default() };
    Chart::HeatMap(HeatMap {
        head: head("A table with holes"),
        rows: vec![heading(LONG), heading("x"), heading(SCRIPT)],
        columns: vec![heading(LONG), heading("y"), heading(SCRIPT)],
        cells: vec![
            vec![value("1", 0.0), value("12,345,678,901,234,567,890", 1e9)],
            vec![value("2", f64::NAN), value("3", -1.0), value("4", 0.001), failed],
        ],
        ..HeatMap::default()
    })
}

fn wide() -> Chart {
    let heading = |index: i32| Heading { label: format!("hardware-{index}"), ..Heading::default() };
    let cell = |row: i32, column: i32| {
        let value = f64::from(row * 7 + column * 3 % 11) + 1.0;
        let known = CellValue { text: format!("{value}"), value: Some(value), ..CellValue::default() };
        Cell {
            state: if (row + column) % 9 == 0 { CellState::NotRun } else { CellState::Value(known) },
            ..Cell::default()
        }
    };
    Chart::HeatMap(HeatMap {
        head: head("Forty columns"),
        scale: "ms".to_owned(),
        rows: (0..12).map(heading).collect(),
        columns: (0..40).map(heading).collect(),
        cells: (0..12).map(|row| (0..40).map(|column| cell(row, column)).collect()).collect(),
        ..HeatMap::default()
    })
}

fn scatter() -> Chart {
    let dot = |x: f64, y: f64, label: &str| Dot {
        x: Some(x),
        y: Some(y),
        label: label.to_owned(),
        hardware: "cpu".to_owned(),
        ..Dot::default()
    };
    let mut dots = vec![
        dot(1.0, 1.0, LONG),
        dot(1.0, 1.0, SCRIPT),
        dot(f64::NAN, 1.0, "NaN"),
        dot(1e6, 1e-6, "far"),
        dot(-5.0, 0.0, "below 0"),
    ];
    dots.extend((0..60).map(|index| dot(1e5 + f64::from(index % 8) * 1e3, 0.5 + f64::from(index) * 0.002, "crowd")));
    let diagonal = Some("equal".to_owned());
    Chart::Scatter(Scatter { head: head("A crowd"), dots, diagonal, x_log: true, ..Scatter::default() })
}

fn stacked() -> Chart {
    let part = |name: &str, value: f64| Part { name: name.to_owned(), value: Some(value) };
    let stack = |label: &str, parts: Vec<Part>| Stack {
        label: label.to_owned(),
        parts,
        hardware: "cpu".to_owned(),
        ..Stack::default()
    };
    let stacks = vec![
        stack(LONG, vec![part(LONG, 3.0), part("b", f64::NAN)]),
        stack("negative", vec![part("b", -2.0), part("c", 5.0), part(LONG, -1.0)]),
        stack("all", ('a'..='k').map(|name| part(&name.to_string(), 0.5)).collect()),
        stack("none", vec![]),
    ];
    Chart::Stacked(Stacked { head: head("Stacks"), unit: "MB".to_owned(), stacks })
}

fn pairs() -> Chart {
    let pair = |label: &str, before: Option<f64>, after: Option<f64>| Pair {
        label: label.to_owned(),
        before: Estimate { value: before, low: None, high: None },
        after: Estimate { value: after, low: None, high: None },
        ratio: if label == "x" { LONG.to_owned() } else { String::new() },
        hardware: "cpu".to_owned(),
        ..Pair::default()
    };
    let pairs = vec![
        pair(LONG, Some(1.0), Some(1.0)),
        pair("x", Some(0.0), Some(-1.0)),
        pair("half", Some(1.0), None),
        pair("none", None, None),
    ];
    Chart::Pairs(Pairs {
        head: head("Pairs"),
        pairs,
        before: LONG.to_owned(),
        after: "after".to_owned(),
        ..Pairs::default()
    })
}

fn distribution() -> Chart {
    let bins = |label: &str, edges: &[f64], counts: &[u64]| Bins {
        label: label.to_owned(),
        edges: edges.to_vec(),
        counts: counts.to_vec(),
        hardware: "cpu".to_owned(),
        median: edges.first().copied(),
        ..Bins::default()
    };
    let series = vec![
        bins(LONG, &[1.0, 2.0], &[5]),
        bins("wrong way", &[3.0, 2.0, 1.0], &[5, 5]),
        bins("too few", &[1.0], &[5, 5]),
        bins("NaN", &[f64::NAN, 1.0], &[5]),
        bins("nothing", &[], &[]),
        bins("zero", &[0.0, 1.0, 4.0], &[0, 0]),
        bins("one far", &[0.0, 1.0, 400.0], &[1000, 1]),
    ];
    Chart::Distribution(Distribution { head: head("Bins"), series, log: true, ..Distribution::default() })
}
