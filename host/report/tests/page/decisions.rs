//! What the page decides: its script and the rule in Rust say the same after every filter, and the table stands without a script.

use crate::browser::{Opened, browser, size};
use serde_json::Value;
use skillbench_report::decision::{Course, Entry, Facet, METRICS, Point};
use skillbench_report::page::{Choice, Decisions, Filter, Page};
use std::collections::BTreeMap;

const HARDWARE: [&str; 4] = ["cpu", "openvino", "rten", "webgpu"];
const MODELS: [&str; 5] = ["bert-tiny", "gpt2-small", "resnet-18", "vit-tiny", "whisper-tiny"];

/// Made-up figures: some apart, some not, some without an interval, some unsettled, some not there.
fn decisions() -> Decisions {
    let mut state = 7u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let facet = |precision: &str, threads| Facet { machine: "a".into(), precision: precision.into(), threads };
    let facets = [facet("float32", 1), facet("float32", 2), facet("float16", 2)];
    let mut points = |of: usize| {
        let mut points = vec![];
        for facet in &facets {
            for model in MODELS {
                let mut entries = vec![];
                for hardware in HARDWARE {
                    let (value, spread, there) = (1.0 + 4.0 * random(), 0.4 * random(), random() > 0.2);
                    let value = if of == 1 { 1000.0 / value } else { value };
                    let interval =
                        (random() > 0.1).then_some((value * (1.0 - spread / 2.0), value * (1.0 + spread / 2.0)));
                    if there {
                        let stable = random() > 0.3;
                        let course = (random() > 0.5)
                            .then(|| Course {
                                line: "▁█".into(), summary: format!("2 runs, from 1 to {value:.1}")
                            });
                        entries.push(Entry { hardware: hardware.into(), value, interval, stable, course });
                    }
                }
                let attributes = [("model", model), ("precision", facet.precision.as_str())];
                points.push(Point {
                    facet: facet.clone(),
                    model: model.into(),
                    axes: "batch=1".into(),
                    entries,
                    attributes: attributes.map(|(key, value)| (key.to_string(), value.to_string())).into(),
                });
            }
        }
        points
    };
    let throughput = METRICS.iter().find(|metric| metric.name == "throughput").unwrap().clone();
    let metrics = vec![(METRICS[0].clone(), points(0)), (throughput, points(1))];
    let colours = HARDWARE.map(|name| (name.to_string(), "#1f77b4".to_string())).into();
    Decisions { metrics, colours }
}

fn page(decisions: Decisions) -> Page {
    let filter = |key: &str, values: &[&str]| Filter {
        key: key.into(),
        label: key.into(),
        values: values.iter().map(|value| Choice::from(*value)).collect(),
    };
    let filters =
        vec![filter("hardware", &HARDWARE), filter("model", &MODELS), filter("precision", &["float16", "float32"])];
    Page { title: "A page".into(), decisions: Some(decisions), filters, ..Page::default() }
}

/// What is left where only these are picked; an empty list picks all.
fn only(decisions: &Decisions, metric: usize, picked: &BTreeMap<&str, Vec<&str>>) -> Decisions {
    let fits = |key: &str, value: &str| picked.get(key).is_none_or(|values| values.contains(&value));
    let mut left = decisions.clone();
    left.metrics.swap(0, metric);
    for (_, points) in &mut left.metrics {
        points.retain(|point| point.attributes.iter().all(|(key, value)| fits(key, value)));
        points.iter_mut().for_each(|point| point.entries.retain(|entry| fits("hardware", &entry.hardware)));
    }
    left
}

/// Headline, rows and places of the marks. Names of facets are left out: a page of one facet does not show them.
fn told(page: &mut Opened) -> Value {
    let script = "JSON.stringify([document.querySelector('.headline').textContent.trim(), \
        ...[...document.querySelectorAll('#decided tbody tr, #standings tbody tr')].map(row => \
            [...row.cells].filter(cell => !cell.matches('.facet')).map(cell => cell.matches('.strip') \
                ? [...cell.querySelectorAll('i, b')].map(mark => [mark.textContent, mark.title, mark.style.left, mark.style.width].join()) \
                : cell.textContent.trim()))])";
    let text = page.value(script);
    serde_json::from_str(text.as_str().unwrap()).unwrap()
}

#[test]
fn the_script_decides_as_the_rule_does_after_every_filter() {
    let whole = decisions();
    let mut views = vec![];
    for (metric, name) in ["latency", "throughput"].iter().enumerate() {
        for hardware in [&[][..], &["cpu", "openvino"], &["rten"], &["cpu", "rten", "webgpu"]] {
            for (model, precision) in
                [(&[][..], &[][..]), (&["vit-tiny"], &[]), (&["bert-tiny", "gpt2-small"], &["float32"])]
            {
                views.push((metric, *name, hardware, model, precision));
            }
        }
    }
    let mut browser = browser();
    for (metric, name, hardware, model, precision) in views {
        let mut picked = BTreeMap::new();
        let mut address = vec![format!("metric={name}")];
        for (key, values) in [("hardware", hardware), ("model", model), ("precision", precision)] {
            if !values.is_empty() {
                picked.insert(key, values.to_vec());
            }
            address.extend(values.iter().map(|value| format!("{key}={value}")));
        }
        let address = format!("#{}", address.join("&"));
        browser.scripts(true);
        let by_script = told(&mut Opened::page(&mut browser, &page(whole.clone()), &address));
        browser.scripts(false);
        let left = only(&whole, metric, &picked);
        let headline = |decisions: &Decisions| decisions.headline();
        let one = Decisions { metrics: vec![left.metrics[0].clone()], ..left.clone() };
        let mut by_rule = told(&mut Opened::page(&mut browser, &page(one.clone()), ""));
        // The shapes of hardware are given out over all of it.
        let shapes = |value: &mut Value| {
            let text = value.to_string().replace(['●', '■', '▲', '◆'], "");
            *value = serde_json::from_str(&text).unwrap();
        };
        let mut by_script = by_script;
        shapes(&mut by_script);
        shapes(&mut by_rule);
        assert_eq!(by_script, by_rule, "{address}: {:?}", headline(&one));
    }
    browser.scripts(true);
}

#[test]
fn without_a_script_the_decision_table_stands() {
    let mut browser = browser();
    browser.scripts(false);
    let mut page = Opened::page(&mut browser, &page(decisions()), "");
    assert_eq!(page.seen("#decided tbody tr"), 15);
    assert!(page.text(".headline").contains("fastest at"), "{}", page.text(".headline"));
    drop(page);
    browser.scripts(true);
}

#[test]
fn the_dearest_wrong_choice_stands_first_and_points_of_other_threads_are_apart() {
    let mut browser = browser();
    let mut page = Opened::page(&mut browser, &page(decisions()), "");
    let costs = "[...document.querySelectorAll('#decided tbody tr')].map(row => parseFloat(row.lastElementChild.textContent) || 1)";
    let costs: Vec<f64> = page.value(costs).as_array().unwrap().iter().map(|cost| cost.as_f64().unwrap()).collect();
    assert!(costs.is_sorted_by(|one, other| one >= other), "{costs:?}");
    let facets =
        "[...new Set([...document.querySelectorAll('#decided td.facet')].map(cell => cell.textContent))].sort()";
    assert_eq!(
        page.value(facets),
        serde_json::json!(["float16, 2 threads", "float32, 1 thread", "float32, 2 threads"])
    );
    let rows = page.value("document.querySelectorAll('#decided tbody tr').length");
    assert_eq!(rows, 15, "no two facets share a row");
}

#[test]
fn names_of_200_characters_and_forty_backends_stay_on_the_page() {
    let entry = |n: usize| Entry {
        hardware: format!("{n}{}", "x".repeat(60)),
        value: 1e-6 * 10f64.powi((n % 8) as i32),
        interval: None,
        stable: true,
        course: None,
    };
    let point = |n: usize| Point {
        model: format!("{n}{}", "m".repeat(200)),
        axes: "batch=1".into(),
        entries: (0..40).map(entry).collect(),
        ..Point::default()
    };
    let decisions =
        Decisions { metrics: vec![(METRICS[0].clone(), (0..3).map(point).collect())], ..Decisions::default() };
    let mut browser = browser();
    for width in [400, 1200] {
        size(&mut browser.tab, width, 900);
        let mut page = Opened::page(&mut browser, &page(decisions.clone()), "");
        assert_eq!(page.value("document.documentElement.scrollWidth"), width, "only boxes scroll");
        assert!(page.complaints().is_empty());
    }
    size(&mut browser.tab, 1200, 900);
}
