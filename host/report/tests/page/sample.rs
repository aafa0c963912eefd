//! A page with one of everything, of made-up figures.

use skillbench_charts::{
    Attributes, Bar, Bars, Bins, Cell as HeatCell, CellState, CellValue, Chart, Distribution, Estimate, Head, Heading,
    HeatMap, Lines, Look, Part, Point, Reference, Series, Stack, Stacked, Theme,
};
use skillbench_report::Cell;
use skillbench_report::page::{
    Badge, Choice, Data, Figure, Filter, Finding, Kind, Link, Page, PageCell, PageRow, PageTable, Section, Tone,
};
use std::collections::BTreeMap;

/// Model, family and architecture.
pub const MODELS: [(&str, &str, &str); 5] = [
    ("bert-base-uncased", "embedding", "encoder-only"),
    ("google/vit-base-patch16-224", "vision", "vision"),
    ("openai/whisper-tiny", "audio", "speech"),
    ("t5-small", "text_generation", "encoder-decoder"),
    ("TinyLlama/TinyLlama-1.1B-Chat-v1.0", "text_generation", "decoder-only"),
];
pub const HARDWARE: [&str; 4] = ["cpu", "cuda", "openvino", "qnn"];

/// What became of a cell: milliseconds, or how it ended and why.
pub enum Fate {
    Measured(f64),
    Emulated(f64),
    Failed(&'static str),
    Unavailable(&'static str),
    NotRun,
}

pub fn fate(model: usize, hardware: usize) -> Fate {
    let base = [18.2, 31.7, 12.4, 22.9, 164.0][model];
    match (model, hardware) {
        (4, 2) => {
            Fate::Failed("the runtime has no kernel for RotaryEmbedding in this opset: export the model with opset 17")
        }
        (2, 1) => Fate::Unavailable("no CUDA device was found"),
        (3, 3) | (4, 3) => Fate::NotRun,
        (_, 3) => Fate::Emulated(base * 9.4),
        (_, hardware) => Fate::Measured(base * [1.0, 0.14, 0.62][hardware]),
    }
}

fn tags(model: usize, hardware: &str, outcome: &str) -> BTreeMap<String, String> {
    let (name, family, _) = MODELS[model];
    let tags = [("model", name), ("family", family), ("hardware", hardware), ("outcome", outcome)];
    tags.map(|(key, value)| (key.to_string(), value.to_string())).into()
}

fn attributes(tags: BTreeMap<String, String>) -> Attributes {
    Attributes::of(tags).unwrap()
}

pub fn drawn(chart: Chart) -> Option<String> {
    let size = chart.natural_size(960);
    Some(chart.svg(&Look::default(), size, Theme::Page))
}

fn head(subtitle: &str, id: &str) -> Head {
    Head { subtitle: subtitle.into(), id: Some(id.into()), ..Head::default() }
}

/// Every model on every hardware.
fn cells() -> impl Iterator<Item = (usize, usize)> {
    (0..MODELS.len()).flat_map(|model| (0..HARDWARE.len()).map(move |hardware| (model, hardware)))
}

fn row(model: usize, hardware: usize) -> PageRow {
    let (name, family, _) = MODELS[model];
    let (outcome, latency, tone, why) = match fate(model, hardware) {
        Fate::Measured(ms) => ("measured", Some(ms), None, None),
        Fate::Emulated(ms) => ("emulated", Some(ms), Some(Tone::Emulated), None),
        Fate::Failed(why) => ("failed", None, Some(Tone::Bad), Some(why)),
        Fate::Unavailable(why) => ("unavailable", None, Some(Tone::Warn), Some(why)),
        Fate::NotRun => ("not tried", None, None, None),
    };
    let told = PageCell { tone, why: why.map(str::to_string), ..outcome.into() };
    let page = format!("models/{}.html", name.replace('/', "-"));
    let number = |value: Option<f64>| PageCell::from(Cell::maybe(value, Cell::number));
    let cells = vec![
        PageCell::from(name).href(page),
        family.into(),
        HARDWARE[hardware].into(),
        told,
        number(latency),
        number(latency.map(|ms| ms * 0.98)),
        number(latency.map(|ms| 1000.0 / ms)),
    ];
    PageRow { attributes: tags(model, HARDWARE[hardware], outcome), cells }
}

const COLUMNS: [&str; 7] = ["model", "family", "hardware", "outcome", "latency ms", "p50 ms", "per second"];

pub fn table(rows: Vec<PageRow>) -> PageTable {
    PageTable { columns: COLUMNS.map(String::from).to_vec(), rows }
}

fn ranked() -> Figure {
    let bar = |(model, hardware): (usize, usize)| {
        let (estimate, note, emulated) = match fate(model, hardware) {
            Fate::Measured(ms) => (Estimate::within(ms, ms * 0.97, ms * 1.04), "", false),
            Fate::Emulated(ms) => (Estimate::within(ms, ms * 0.9, ms * 1.1), "", true),
            Fate::Failed(why) | Fate::Unavailable(why) => (Estimate::default(), why, false),
            Fate::NotRun => (Estimate::default(), "not run", false),
        };
        Bar {
            label: HARDWARE[hardware].into(),
            group: MODELS[model].0.into(),
            estimate,
            hardware: HARDWARE[hardware].into(),
            emulated,
            note: note.into(),
            attributes: attributes(tags(model, HARDWARE[hardware], "any")),
            ..Bar::default()
        }
    };
    let chart = Bars {
        head: head("median latency in ms with its 95% interval; lower is better", "ranked"),
        unit: "ms".into(),
        log: true,
        reference: None::<Reference>,
        bars: cells().map(bar).collect(),
    };
    Figure {
        title: "Latency by hardware".into(),
        note: "Batch 1, float32. Emulated hardware is shown but not ranked beside hardware.".into(),
        svg: drawn(Chart::Bars(chart)),
        table: table(cells().map(|(model, hardware)| row(model, hardware)).collect()),
        counts: true,
        ..Figure::default()
    }
}

fn matrix() -> Figure {
    let cell = |model: usize, hardware: usize| {
        let cpu = [18.2, 31.7, 12.4, 22.9, 164.0][model];
        let value = |ms: f64| CellValue {
            text: format!("{ms:.1} ms"),
            value: Some(ms),
            interval: Some((ms * 0.97, ms * 1.04)),
            ratio: Some(cpu / ms),
            ratio_text: format!("{:.2}×", cpu / ms),
        };
        let state = match fate(model, hardware) {
            Fate::Measured(ms) => CellState::Value(value(ms)),
            Fate::Emulated(ms) => CellState::Emulated(value(ms)),
            Fate::Failed(why) => CellState::Failed { reason: why.into() },
            Fate::Unavailable(why) => CellState::Unavailable { reason: why.into() },
            Fate::NotRun => CellState::NotRun,
        };
        HeatCell { state, attributes: attributes(tags(model, HARDWARE[hardware], "any")) }
    };
    let chart = HeatMap {
        head: head("latency, and speed against the CPU", "matrix"),
        scale: "speed against cpu".into(),
        below: "slower".into(),
        above: "faster".into(),
        rows: MODELS
            .map(|(name, family, _)| Heading { label: name.into(), sublabel: family.into(), ..Heading::default() })
            .into(),
        columns: HARDWARE.map(|id| Heading { label: id.into(), hardware: id.into(), ..Heading::default() }).into(),
        cells: (0..MODELS.len()).map(|model| (0..HARDWARE.len()).map(|at| cell(model, at)).collect()).collect(),
    };
    Figure {
        title: "What runs where".into(),
        svg: drawn(Chart::HeatMap(chart)),
        table: table(cells().map(|(model, hardware)| row(model, hardware)).collect()),
        ..Figure::default()
    }
}

fn scaling() -> Figure {
    let mut rows = vec![];
    let mut series = vec![];
    for (model, hardware) in cells() {
        let Fate::Measured(ms) = fate(model, hardware) else { continue };
        let at = |batch: f64| 1000.0 * batch / (ms * batch.powf(0.8));
        let points =
            [1.0, 2.0, 4.0, 8.0].map(|x| Point { x, estimate: Estimate::within(at(x), at(x) * 0.96, at(x) * 1.03) });
        let (name, _, architecture) = MODELS[model];
        series.push(Series {
            name: name.into(),
            hardware: HARDWARE[hardware].into(),
            architecture: architecture.into(),
            points: points.to_vec(),
            attributes: attributes(tags(model, HARDWARE[hardware], "measured")),
            ..Series::default()
        });
        for batch in [1_u32, 2, 4, 8] {
            let cells = vec![
                PageCell::from(name),
                HARDWARE[hardware].into(),
                Cell::count(batch.into()).into(),
                Cell::number(at(batch.into())).into(),
            ];
            rows.push(PageRow { attributes: tags(model, HARDWARE[hardware], "measured"), cells });
        }
    }
    let chart = Lines {
        head: head("items per second against the batch size; higher is better", "scaling"),
        x_label: "batch size".into(),
        y_label: "items per second".into(),
        unit: "/s".into(),
        y_log: true,
        series,
        ..Lines::default()
    };
    let columns = ["model", "hardware", "batch", "per second"].map(String::from).to_vec();
    let table = PageTable { columns, rows };
    Figure { title: "Throughput against batch".into(), svg: drawn(Chart::Lines(chart)), table, ..Figure::default() }
}

fn distribution() -> Figure {
    let series = ["cpu", "cuda", "openvino"].iter().enumerate().map(|(at, id)| Bins {
        label: MODELS[0].0.into(),
        sublabel: (*id).into(),
        hardware: (*id).into(),
        edges: (0..=12).map(|edge| 3.0 + at as f64 * 6.0 + f64::from(edge) * 0.2).collect(),
        counts: vec![1, 4, 11, 26, 38, 30, 17, 9, 5, 2, 1, 1],
        median: Some(3.9 + at as f64 * 6.0),
        attributes: attributes(tags(0, id, "measured")),
        ..Bins::default()
    });
    let chart = Distribution {
        head: head("samples by latency", "distribution"),
        unit: "ms".into(),
        series: series.collect(),
        ..Distribution::default()
    };
    let rows = [0, 1, 2].map(|hardware| row(0, hardware));
    Figure {
        title: "Latency distribution".into(),
        note: "One model only.".into(),
        svg: drawn(Chart::Distribution(chart)),
        table: table(rows.into()),
        attributes: BTreeMap::from([("model".into(), MODELS[0].0.into())]),
        ..Figure::default()
    }
}

fn phases() -> Figure {
    let stack = |(at, id): (usize, &&str)| Stack {
        label: (*id).into(),
        hardware: (*id).into(),
        parts: [
            ("import", 120.0),
            ("read", 40.0 + 5.0 * at as f64),
            ("compile", 300.0 * at as f64),
            ("first inference", 33.0),
        ]
        .map(|(name, ms)| Part { name: name.into(), value: (ms > 0.0).then_some(ms) })
        .into(),
        attributes: attributes(tags(0, id, "measured")),
        ..Stack::default()
    };
    let chart = Stacked {
        head: head("milliseconds until the first answer", "phases"),
        unit: "ms".into(),
        stacks: ["cpu", "cuda", "openvino"].iter().enumerate().map(stack).collect(),
    };
    let rows = [0, 1, 2].map(|hardware| row(0, hardware));
    Figure {
        title: "How long a start takes".into(),
        svg: drawn(Chart::Stacked(chart)),
        table: table(rows.into()),
        ..Figure::default()
    }
}

fn problems() -> Section {
    let finding = |tone, title: &str, evidence: &str, advice: Option<&str>, model, hardware| Finding {
        tone,
        title: title.into(),
        evidence: evidence.into(),
        advice: advice.map(str::to_string),
        attributes: tags(model, hardware, "any"),
    };
    Section {
        id: "problems".into(),
        title: "Problems and ways around them".into(),
        intro: "What went wrong, and what was done about it.".into(),
        findings: vec![
            finding(
                Tone::Bad,
                "TinyLlama does not load on openvino",
                "The runtime has no kernel for RotaryEmbedding in opset 23.",
                Some("Export the model with opset 17."),
                4,
                "openvino",
            ),
            finding(
                Tone::Warn,
                "t5-small on cpu is noisy",
                "The 95% interval is 14% of the median; another process used 1.2 cores.",
                Some("Run it again on a quiet machine."),
                3,
                "cpu",
            ),
            finding(Tone::Info, "Constants were folded for qnn", "2 of 5 models needed it.", None, 0, "qnn"),
        ],
        figures: vec![],
        folded: false,
    }
}

fn section(id: &str, title: &str, intro: &str, figures: Vec<Figure>) -> Section {
    Section { id: id.into(), title: title.into(), intro: intro.into(), figures, findings: vec![], folded: false }
}

fn filter(key: &str, label: &str, values: impl IntoIterator<Item = &'static str>) -> Filter {
    let mut choices: Vec<Choice> = vec![];
    for choice in values.into_iter().map(Choice::from) {
        if !choices.contains(&choice) {
            choices.push(choice);
        }
    }
    Filter { key: key.into(), label: label.into(), values: choices }
}

pub fn page() -> Page {
    let badge = |text: &str, tone, why: &str| Badge { text: text.into(), tone, why: why.into() };
    Page {
        kind: Kind::Run,
        title: "Sample run: five models on four kinds of hardware".into(),
        decisions: None,
        context: vec![("Machine".into(), "made up".into())],
        verdict:
            "CUDA is fastest for the four models that ran there, 7.1 times as fast as the CPU in the geometric mean; \
                  one model failed on OpenVINO."
                .into(),
        badges: vec![
            badge("valid", Tone::Good, "outputs of all 14 measured cells agree with the reference"),
            badge("noisy", Tone::Warn, "1 of 14 cells has an interval wider than 10%"),
            badge("emulated", Tone::Emulated, "qnn ran in the vendor's emulator; its times are not those of hardware"),
            badge("unverified", Tone::Info, "none"),
        ],
        notes: vec![
            "The CPU's clock fell by 11% during the run: figures of the last minutes are slower than they had to be."
                .into(),
            "All figures on this page are made up for a test.".into(),
        ],
        links: vec![
            Link { href: "index.html".into(), text: "All runs".into() },
            Link { href: "../dashboard.html".into(), text: "Dashboard".into() },
        ],
        filters: vec![
            filter("hardware", "Hardware", HARDWARE),
            filter("model", "Model", MODELS.map(|model| model.0)),
            filter("family", "Family", MODELS.map(|model| model.1)),
            filter("outcome", "Outcome", ["measured", "emulated", "failed", "unavailable", "not tried"]),
        ],
        unit: "cells".into(),
        sections: vec![
            section(
                "latency",
                "Latency",
                "The time of one inference, as the median over all rounds.",
                vec![ranked(), matrix()],
            ),
            section("scaling", "Scaling", "", vec![scaling()]),
            section("distribution", "Distribution", "", vec![distribution()]),
            section("start", "Start", "", vec![phases()]),
            section("energy", "Energy", "", vec![]),
            problems(),
        ],
        facts: [
            ("run", "2026-11-21T08-00-00Z-sample"),
            ("host", "skillbench 0.1.0"),
            ("processor", "a made-up CPU, 2 cores"),
            ("seed", "42"),
        ]
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .into(),
        data: Data {
            json: r#"{"schema":"skillbench.run/1","note":"</script><b>made up</b> & 'quoted'","cells":[]}"#.into(),
            csv: "model,hardware,latency ms\n\"a, \"\"b\"\"\",cpu,18.2\n".into(),
            name: "sample".into(),
        },
    }
}
