//! Every kind of chart with every kind of data that should not come, at every size: what holds for all of them.

use resvg::usvg::roxmltree::{Document, Node};

use crate::{
    Arrangement, Attributes, Bar, Bars, Bins, Cell, CellState, CellValue, Change, Chart, Distribution, Dot, Estimate,
    Guide, Head, Heading, HeatMap, Lines, Look, Pair, Pairs, Part, Point, Reference, Scatter, Series, Size, Stack,
    Stacked, Theme, Trend, XScale, text,
};

const LABELS: [&str; 6] = [
    "",
    "x",
    "a-name-of-one-hundred-and-twenty-characters-that-has-no-space-in-it-so-that-it-cannot-be-broken-into-lines-anywhere-at-al",
    "<script>alert('1')</script> & \"more\" ]]> <!-- ",
    "line\nbreak\ttab \u{0}\u{1}\u{1b}[31m null and escape",
    "深層学習モデル 🚀 Ünïcödé \u{202e}txet",
];

fn value_sets() -> Vec<Vec<f64>> {
    vec![
        vec![],
        vec![f64::NAN],
        vec![f64::INFINITY, f64::NEG_INFINITY],
        vec![0.0],
        vec![-0.0, 0.0, 0.0],
        vec![5.0],
        vec![5.0; 12],
        vec![-3.0, -2.0],
        vec![-3.0, 0.0, 7.5],
        vec![1e-320, 1e-9, 1.0],
        vec![f64::MIN_POSITIVE, f64::EPSILON],
        vec![1e300, -1e300],
        vec![f64::MAX, f64::MIN],
        vec![1e15, 1e15 + 1.0],
        vec![1.0, 1.0 + f64::EPSILON],
        vec![1e-12, 2e-12, 3e-12],
        vec![1.0, f64::NAN, 3.0, f64::INFINITY, 1e9],
        (0..200).map(f64::from).collect(),
    ]
}

fn head(label: &str) -> Head {
    Head { title: label.repeat(4), subtitle: label.repeat(9), source: label.repeat(5), id: None, titled: false }
}

fn estimate(value: f64) -> Estimate {
    Estimate::within(value, value - value.abs() * 0.5, value * 2.0)
}

fn every_kind(values: &[f64], label: &str) -> Vec<Chart> {
    let attributes = Attributes::of([("model", label)]).unwrap();
    let text = || label.to_owned();
    let bars = values.iter().enumerate().map(|(index, value)| Bar {
        label: text(),
        sublabel: if index % 2 == 0 { text() } else { String::new() },
        group: if index < 2 { String::new() } else { text() },
        estimate: estimate(*value),
        hardware: text(),
        emulated: index % 3 == 1,
        note: text(),
        attributes: attributes.clone(),
    });
    let bars: Vec<Bar> = bars.collect();
    let series = |x: &dyn Fn(usize, f64) -> f64| -> Vec<Series> {
        (0..values.len().min(3))
            .map(|shift| Series {
                name: text(),
                hardware: text(),
                architecture: text(),
                emulated: shift == 1,
                predicted: shift == 2,
                points: values
                    .iter()
                    .enumerate()
                    .map(|(index, value)| Point { x: x(index + shift, *value), estimate: estimate(*value) })
                    .collect(),
                note: text(),
                attributes: attributes.clone(),
            })
            .collect()
    };
    let guide = Guide { label: text(), points: values.iter().map(|value| (*value, -value)).collect() };
    let cell = |value: f64| CellValue {
        text: text(),
        value: Some(value),
        interval: Some((value, value)),
        ratio: Some(value),
        ratio_text: text(),
    };
    let states = |value: f64| {
        [
            CellState::Value(cell(value)),
            CellState::Emulated(cell(value)),
            CellState::Failed { reason: text() },
            CellState::Unavailable { reason: text() },
            CellState::Unsupported,
            CellState::NotRun,
        ]
    };
    let lines = |x_scale, y_log| {
        Chart::Lines(Lines {
            head: head(label),
            x_label: text(),
            y_label: text(),
            unit: text(),
            x_scale,
            y_log,
            series: series(&|index, value| if index % 2 == 0 { value } else { index as f64 }),
            ideal: Some(guide.clone()),
        })
    };
    let mut edges: Vec<f64> = values.to_vec();
    edges.push(7.0);
    let bins = |edges: Vec<f64>| Bins {
        label: text(),
        counts: vec![3; values.len()],
        edges,
        q1: values.first().copied(),
        median: values.first().copied(),
        q3: values.last().copied(),
        p90: values.last().copied(),
        outliers: Some(u64::MAX),
        note: text(),
        hardware: text(),
        attributes: attributes.clone(),
        ..Bins::default()
    };
    let distribution = |arrangement, log| {
        let series = if values.is_empty() { vec![] } else { vec![bins(edges.clone()), bins(values.to_vec())] };
        Chart::Distribution(Distribution { head: head(label), unit: text(), log, arrangement, series })
    };
    let pair = |value: &f64| Pair {
        label: text(),
        sublabel: text(),
        before: estimate(*value),
        after: if *value > 3.0 { Estimate::default() } else { estimate(-value) },
        ratio: text(),
        hardware: text(),
        note: text(),
        attributes: attributes.clone(),
        ..Pair::default()
    };
    let dot = |(index, value): (usize, &f64)| Dot {
        x: Some(*value),
        y: (index % 5 != 4).then_some(-value),
        label: text(),
        hardware: text(),
        architecture: text(),
        emulated: index % 3 == 1,
        attributes: attributes.clone(),
    };
    let parts = |_| values.iter().take(9).map(|value| Part { name: text(), value: Some(*value) }).collect();
    let reference = Some(Reference { value: values.first().copied().unwrap_or(1.0), label: text() });
    vec![
        Chart::Bars(Bars {
            head: head(label),
            unit: text(),
            log: false,
            reference: reference.clone(),
            bars: bars.clone(),
        }),
        Chart::Bars(Bars { head: head(label), unit: text(), log: true, reference, bars }),
        lines(XScale::Log2, false),
        lines(XScale::Linear, true),
        Chart::Trend(Trend {
            head: head(label),
            y_label: text(),
            unit: text(),
            y_log: true,
            series: series(&|index, value| if index % 2 == 0 { value } else { 1.7e9 + 1e5 * index as f64 }),
            changes: values
                .iter()
                .map(|at| Change { at: *at, label: text(), attributes: attributes.clone() })
                .collect(),
        }),
        Chart::HeatMap(HeatMap {
            head: head(label),
            scale: text(),
            below: text(),
            above: text(),
            rows: values
                .iter()
                .take(20)
                .map(|_| Heading { label: text(), sublabel: text(), hardware: text() })
                .collect(),
            columns: values
                .iter()
                .take(4)
                .map(|_| Heading { label: text(), sublabel: text(), hardware: text() })
                .collect(),
            cells: values
                .iter()
                .take(21)
                .map(|value| states(*value).map(|state| Cell { state, attributes: attributes.clone() }).to_vec())
                .collect(),
        }),
        distribution(Arrangement::Rows, false),
        distribution(Arrangement::Overlaid, true),
        Chart::Stacked(Stacked {
            head: head(label),
            unit: text(),
            stacks: values
                .iter()
                .enumerate()
                .map(|(index, _)| Stack {
                    label: text(),
                    parts: parts(index),
                    note: text(),
                    hardware: text(),
                    attributes: attributes.clone(),
                    ..Stack::default()
                })
                .collect(),
        }),
        Chart::Scatter(Scatter {
            head: head(label),
            x_label: text(),
            y_label: text(),
            x_log: true,
            y_log: false,
            dots: values.iter().enumerate().map(dot).collect(),
            diagonal: Some(text()),
            guides: vec![guide.clone()],
        }),
        Chart::Pairs(Pairs {
            head: head(label),
            unit: text(),
            log: true,
            before: text(),
            after: text(),
            pairs: values.iter().map(pair).collect(),
        }),
    ]
}

fn number(node: Node<'_, '_>, name: &str) -> Option<f64> {
    node.attribute(name).map(|text| text.parse::<f64>().unwrap_or(f64::NAN))
}

/// Every shape has numbers for coordinates, and no shape and no text leaves the paper.
fn check(chart: &Chart, svg: &str) {
    let document = Document::parse(svg).unwrap_or_else(|error| panic!("{error}: {chart:?}\n{svg}"));
    let root = document.root_element();
    let view: Vec<f64> = root.attribute("viewBox").unwrap().split(' ').map(|part| part.parse().unwrap()).collect();
    let (width, height) = (view[2], view[3]);
    let inside = |x: f64, y: f64| (-6.0..=width + 6.0).contains(&x) && (-6.0..=height + 6.0).contains(&y);
    for node in document.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        let known = ["svg", "g", "title", "desc", "defs", "pattern", "rect", "path", "circle", "text"];
        assert!(known.contains(&name), "an element {name} in {chart:?}");
        if node.ancestors().any(|above| above.has_tag_name("defs")) {
            continue;
        }
        if let (Some(x), Some(y)) = (number(node, "x"), number(node, "y")) {
            assert!(inside(x, y), "{name} at {x}, {y} of {width} × {height} in {chart:?}");
        }
        if let (Some(x), Some(y)) = (number(node, "cx"), number(node, "cy")) {
            assert!(inside(x, y), "a point at {x}, {y} of {width} × {height} in {chart:?}");
        }
        if let (Some(x), Some(wide)) = (number(node, "x"), number(node, "width")) {
            assert!(wide >= 0.0 && x + wide <= width + 6.0, "a box to {} of {width} in {chart:?}", x + wide);
        }
        if let Some(path) = node.attribute("d") {
            assert!(!path.contains("NaN") && !path.contains("inf"), "{path} in {chart:?}");
        }
        if name == "text" && node.attribute("transform").is_none() {
            let size = number(node, "font-size").unwrap_or(11.0);
            let bold = node.attribute("font-weight").is_some();
            let wide = text::width(node.text().unwrap_or_default(), size, bold);
            let x = number(node, "x").unwrap();
            let (left, right) = match node.attribute("text-anchor") {
                Some("middle") => (x - wide / 2.0, x + wide / 2.0),
                Some("end") => (x - wide, x),
                _ => (x, x + wide),
            };
            let said = node.text().unwrap_or_default();
            assert!(left >= -1.0 && right <= width + 1.0, "{said:?} from {left} to {right} of {width} in {chart:?}");
        }
    }
}

#[test]
fn whatever_comes_is_drawn_on_the_paper_and_escaped() {
    let look = Look::default();
    for values in value_sets() {
        for label in LABELS {
            for chart in every_kind(&values, label) {
                check(&chart, &chart.svg(&look, chart.natural_size(760), Theme::Page));
                check(&chart, &chart.svg(&look, Size { width: 300, height: 120 }, Theme::Dark));
            }
        }
    }
}

#[test]
fn any_size_is_a_drawing() {
    let look = Look::default();
    for chart in every_kind(&[1.0, 2.0, f64::NAN, 4.0], LABELS[2]) {
        for (width, height) in [(0, 0), (1, 1), (5000, 1), (1, 5000), (320, 4000), (4000, 320), (u32::MAX, u32::MAX)] {
            let svg = chart.svg(&look, Size { width, height }, Theme::Light);
            Document::parse(&svg).unwrap();
        }
        assert!(chart.natural_size(0).height < 10_000);
    }
}

#[test]
fn every_value_that_can_be_drawn_is_in_a_title_and_no_other_is_a_number() {
    let look = Look::default();
    for chart in every_kind(&[f64::NAN, f64::INFINITY], "x") {
        let svg = chart.svg(&look, chart.natural_size(700), Theme::Light);
        assert!(!svg.contains("NaN") && !svg.contains("inf "), "{svg}");
    }
}
