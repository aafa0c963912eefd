//! A page of a thousand cells, of made-up figures: how large it is, and how long it takes.

use crate::browser::{Opened, browser};
use crate::sample::drawn;
use skillbench_charts::{
    Attributes, Bar, Bars, Cell as HeatCell, CellState, CellValue, Chart, Estimate, Head, Heading, HeatMap, Lines,
    Point, Series,
};
use skillbench_report::Cell;
use skillbench_report::page::{Choice, Data, Figure, Filter, Page, PageCell, PageRow, PageTable, Section};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const MODELS: usize = 50;
const HARDWARE: [&str; 5] = ["cpu", "cuda", "openvino", "qnn", "webgpu"];
const BATCHES: [u32; 4] = [1, 2, 4, 8];

fn name(model: usize) -> String {
    format!("organisation/model-number-{model:02}-base")
}

fn tags(model: usize, hardware: &str) -> BTreeMap<String, String> {
    let family = ["embedding", "vision", "audio", "text_generation", "multimodal"][model % 5];
    let tags = [
        ("model", name(model)),
        ("hardware", hardware.into()),
        ("family", family.into()),
        ("benchmark", "inference".into()),
        ("precision", "float32".into()),
        ("outcome", "measured".into()),
    ];
    tags.map(|(key, value)| (key.to_string(), value)).into()
}

fn latency(model: usize, hardware: usize, batch: u32) -> f64 {
    (3.0 + model as f64 * 1.37) * [1.0, 0.13, 0.71, 0.4, 0.9][hardware] * f64::from(batch).powf(0.81)
}

fn attributes(model: usize, hardware: &str) -> Attributes {
    Attributes::of(tags(model, hardware)).unwrap()
}

fn grid() -> impl Iterator<Item = (usize, usize)> {
    (0..MODELS).flat_map(|model| (0..HARDWARE.len()).map(move |hardware| (model, hardware)))
}

fn head(id: &str) -> Head {
    Head { id: Some(id.into()), ..Head::default() }
}

/// All cells with twelve columns, as a report has them.
fn all() -> Figure {
    let columns = [
        "model",
        "family",
        "hardware",
        "benchmark",
        "precision",
        "batch",
        "outcome",
        "median ms",
        "p90 ms",
        "p99 ms",
        "per second",
        "memory MB",
    ];
    let mut table = PageTable { columns: columns.map(String::from).to_vec(), rows: vec![] };
    for (model, hardware) in grid() {
        for batch in BATCHES {
            let attributes = tags(model, HARDWARE[hardware]);
            let ms = latency(model, hardware, batch);
            let text = |key: &str| PageCell::from(attributes[key].as_str());
            let number = |value: f64| PageCell::from(Cell::number(value));
            let cells = vec![
                text("model"),
                text("family"),
                text("hardware"),
                text("benchmark"),
                text("precision"),
                Cell::count(batch.into()).into(),
                text("outcome"),
                number(ms),
                number(ms * 1.1),
                number(ms * 1.4),
                number(1000.0 * f64::from(batch) / ms),
                number(100.0 + ms),
            ];
            table.rows.push(PageRow { attributes, cells });
        }
    }
    Figure { title: "All cells".into(), table, counts: true, ..Figure::default() }
}

/// One row for each model and hardware, as behind a chart.
fn behind() -> PageTable {
    let row = |(model, hardware): (usize, usize)| {
        let cells = vec![
            PageCell::from(name(model)),
            HARDWARE[hardware].into(),
            Cell::number(latency(model, hardware, 1)).into(),
        ];
        PageRow { attributes: tags(model, HARDWARE[hardware]), cells }
    };
    PageTable { columns: ["model", "hardware", "ms"].map(String::from).to_vec(), rows: grid().map(row).collect() }
}

fn charts() -> Vec<Figure> {
    let bar = |(model, hardware): (usize, usize)| Bar {
        label: HARDWARE[hardware].into(),
        group: name(model),
        estimate: Estimate::within(
            latency(model, hardware, 1),
            latency(model, hardware, 1) * 0.97,
            latency(model, hardware, 1) * 1.02,
        ),
        hardware: HARDWARE[hardware].into(),
        attributes: attributes(model, HARDWARE[hardware]),
        ..Bar::default()
    };
    let bars = Bars { head: head("bars"), unit: "ms".into(), bars: grid().map(bar).collect(), ..Bars::default() };
    let cell = |model: usize, hardware: usize| HeatCell {
        state: CellState::Value(CellValue {
            text: format!("{:.2}", latency(model, hardware, 1)),
            value: Some(latency(model, hardware, 1)),
            ratio: Some(latency(model, 0, 1) / latency(model, hardware, 1)),
            ratio_text: format!("{:.2}×", latency(model, 0, 1) / latency(model, hardware, 1)),
            interval: None,
        }),
        attributes: attributes(model, HARDWARE[hardware]),
    };
    let map = HeatMap {
        head: head("map"),
        scale: "speed against cpu".into(),
        rows: (0..MODELS).map(|model| Heading { label: name(model), ..Heading::default() }).collect(),
        columns: HARDWARE.map(|id| Heading { label: id.into(), hardware: id.into(), ..Heading::default() }).into(),
        cells: (0..MODELS).map(|model| (0..HARDWARE.len()).map(|at| cell(model, at)).collect()).collect(),
        ..HeatMap::default()
    };
    let series = |(model, hardware): (usize, usize)| Series {
        name: name(model),
        hardware: HARDWARE[hardware].into(),
        points: BATCHES
            .map(|batch| Point { x: batch.into(), estimate: Estimate::of(latency(model, hardware, batch)) })
            .into(),
        attributes: attributes(model, HARDWARE[hardware]),
        ..Series::default()
    };
    let lines = Lines { head: head("lines"), series: grid().map(series).collect(), ..Lines::default() };
    [Chart::Bars(bars), Chart::HeatMap(map), Chart::Lines(lines)]
        .map(|chart| Figure { title: "A chart".into(), svg: drawn(chart), table: behind(), ..Figure::default() })
        .into()
}

/// Data as a run of a thousand cells brings it: about 900 bytes of JSON a cell.
fn data() -> Data {
    let metric = r#"{"n":400,"min":1.234567,"mean":1.345678,"median":1.345612,"p90":1.45678,"p95":1.567812,"p99":1.678912,"max":1.98,"std":0.0456,"mad":0.0345,"ci95":[1.3399,1.3512]}"#;
    let cell = |(model, hardware): (usize, usize)| {
        format!(
            r#"{{"plugin":"{0}","device":"{0}:0","skill":"{1}","benchmark":"inference","precision_requested":"float32","batch_size":1,"outcome":"measured","reason":null,"emulated":false,"stable":true,"placement":{{"precision":"float32","device":"{0}","engine":"an engine 1.2.3","nodes_total":512,"nodes_on_device":512,"cache_hit":false}},"metrics":{{"latency_ms":{metric},"cpu_ms":{metric},"throughput_per_s":812.3,"memory_mb":{{"before":100,"loaded":200,"peak":300,"average":250}}}}}}"#,
            HARDWARE[hardware],
            name(model)
        )
    };
    let cells: Vec<String> = grid().flat_map(|at| BATCHES.map(|_| cell(at))).collect();
    let line = |(model, hardware): (usize, usize)| {
        format!("{},{},1,measured,1.345612,1.45678,812.3\n", name(model), HARDWARE[hardware])
    };
    let csv: String = grid().flat_map(|at| BATCHES.map(|_| line(at))).collect();
    Data {
        json: format!(r#"{{"schema":"skillbench.run/1","cells":[{}]}}"#, cells.join(",")),
        csv,
        name: "crowd".into(),
    }
}

pub fn page() -> Page {
    let values = |key: &str| {
        let values: std::collections::BTreeSet<String> =
            grid().map(|(model, at)| tags(model, HARDWARE[at])[key].clone()).collect();
        Filter { key: key.into(), label: key.into(), values: values.into_iter().map(Choice::from).collect() }
    };
    Page {
        title: "A thousand cells, made up for a test".into(),
        filters: ["hardware", "model", "family", "benchmark", "precision", "outcome"].map(values).into(),
        unit: "cells".into(),
        sections: vec![
            Section { id: "charts".into(), title: "Charts".into(), figures: charts(), ..Section::default() },
            Section { id: "cells".into(), title: "Cells".into(), figures: vec![all()], ..Section::default() },
        ],
        data: data(),
        ..Page::default()
    }
}

#[test]
fn a_page_of_a_thousand_cells_is_written_in_a_second_and_smaller_than_three_megabytes() {
    let page = page();
    let svg: usize = page
        .sections
        .iter()
        .flat_map(|section| &section.figures)
        .filter_map(|figure| Some(figure.svg.as_ref()?.len()))
        .sum();
    let data = page.data.json.len() + page.data.csv.len();
    let started = Instant::now();
    let html = page.html().unwrap();
    let took = started.elapsed();
    eprintln!("{} bytes ({svg} of charts, {data} of data) in {took:?}", html.len());
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert!(html.len() < 3_000_000, "{} bytes", html.len());
}

#[test]
fn a_page_of_a_thousand_cells_opens_in_a_second_and_filters_at_once() {
    let mut browser = browser();
    let opened = Opened::page(&mut browser, &page(), "");
    let took = opened.took;
    let tab = opened.tab;
    let loaded = tab.value("performance.getEntriesByType('navigation')[0].loadEventEnd").unwrap();
    let filtered = tab
        .value(
            "(async () => { const box = document.querySelector('[data-key=hardware] input'); const from = performance.now(); \
             box.click(); await new Promise(done => setTimeout(done)); await new Promise(requestAnimationFrame); \
             await new Promise(done => setTimeout(done)); return performance.now() - from; })()",
        )
        .unwrap();
    eprintln!("drawn after {took:?}, load event at {loaded} ms, filtered in {filtered} ms");
    assert_eq!(tab.value("document.querySelectorAll('.counts tbody tr:not(.off)').length").unwrap(), 200);
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert!(filtered.as_f64().unwrap() < 500.0, "{filtered} ms");
}
