//! What a page can rely on in a drawing: marks, titles, attributes, ids, themes.

use resvg::usvg::roxmltree::{Document, Node};
use skillbench_charts::{
    Attributes, Bar, Bars, Cell, CellState, CellValue, Chart, ChartError, Estimate, Head, Heading, HeatMap, Lines,
    Look, Pair, Pairs, Point, Reference, Series, Size, Theme,
};

fn head() -> Head {
    Head {
        title: "Latency".to_owned(),
        subtitle: "ms; lower is better".to_owned(),
        source: "a run".to_owned(),
        id: None,
        titled: false,
    }
}

fn bar(hardware: &str, value: f64) -> Bar {
    Bar {
        label: "bert-base-uncased".to_owned(),
        sublabel: hardware.to_owned(),
        estimate: Estimate::within(value, value - 0.5, value + 0.5),
        hardware: hardware.to_owned(),
        attributes: Attributes::of([("model", "bert-base-uncased"), ("batch", "1")]).unwrap(),
        ..Bar::default()
    }
}

fn bars(bars: Vec<Bar>) -> Chart {
    Chart::Bars(Bars { head: head(), unit: "ms".to_owned(), bars, ..Bars::default() })
}

fn draw(chart: &Chart, theme: Theme) -> String {
    chart.svg(&Look::default(), chart.natural_size(720), theme)
}

fn marks<'a>(document: &'a Document<'a>) -> Vec<Node<'a, 'a>> {
    let is_mark =
        |node: &Node<'_, '_>| node.attribute("class").is_some_and(|class| class.split(' ').any(|one| one == "mark"));
    document.descendants().filter(is_mark).collect()
}

fn title<'a>(node: Node<'a, 'a>) -> &'a str {
    node.children().find(|child| child.has_tag_name("title")).and_then(|title| title.text()).unwrap_or_default()
}

fn says(document: &Document<'_>, wanted: &str) -> bool {
    document
        .descendants()
        .filter(|node| node.has_tag_name("text"))
        .any(|node| node.text().is_some_and(|text| text.contains(wanted)))
}

#[test]
fn each_bar_is_a_mark_that_tells_its_value_interval_and_attributes() {
    let svg = draw(&bars(vec![bar("cpu", 18.4), bar("cuda", 2.9)]), Theme::Page);
    let document = Document::parse(&svg).unwrap();
    let marks = marks(&document);
    assert_eq!(marks.len(), 2);
    assert_eq!(title(marks[0]), "bert-base-uncased, cpu: 18.4 ms (95% interval 17.9 to 18.9)");
    assert_eq!(marks[1].attribute("data-hardware"), Some("cuda"));
    assert_eq!(marks[1].attribute("data-state"), Some("measured"));
    assert_eq!(marks[1].attribute("data-model"), Some("bert-base-uncased"));
    assert_eq!(marks[1].attribute("data-batch"), Some("1"));
}

#[test]
fn a_bar_without_a_value_is_a_row_with_its_reason_and_no_bar() {
    let reason = "failed: out of memory".to_owned();
    let failed = Bar { estimate: Estimate::default(), note: reason.clone(), ..bar("cuda", 1.0) };
    let svg = draw(&bars(vec![bar("cpu", 18.4), failed]), Theme::Light);
    let document = Document::parse(&svg).unwrap();
    let row = marks(&document)[1];
    assert!(title(row).ends_with(&reason));
    assert_eq!(row.attribute("data-state"), Some("no-value"));
    assert!(!row.descendants().any(|node| node.has_tag_name("rect")));
    assert!(says(&document, &reason));
}

#[test]
fn an_interval_without_a_value_is_not_drawn() {
    let odd = Bar { estimate: Estimate { value: None, low: Some(1.0), high: Some(2.0) }, ..bar("cuda", 1.0) };
    let svg = draw(&bars(vec![odd]), Theme::Light);
    let document = Document::parse(&svg).unwrap();
    let row = marks(&document)[0];
    assert!(!row.descendants().any(|node| node.has_tag_name("path") || node.has_tag_name("rect")));
    assert!(title(row).ends_with("not measured"));
}

#[test]
fn an_emulated_bar_is_striped_and_says_so() {
    let svg = draw(&bars(vec![Bar { emulated: true, ..bar("qnn", 5.0) }]), Theme::Page);
    let document = Document::parse(&svg).unwrap();
    let mark = marks(&document)[0];
    assert!(title(mark).ends_with("(emulated)"));
    assert_eq!(mark.attribute("data-state"), Some("emulated"));
    let fill = mark.descendants().find_map(|node| node.has_tag_name("rect").then(|| node.attribute("fill")).flatten());
    let pattern = fill.and_then(|fill| fill.strip_prefix("url(#")).and_then(|fill| fill.strip_suffix(')')).unwrap();
    assert!(document.descendants().any(|node| node.has_tag_name("pattern") && node.attribute("id") == Some(pattern)));
}

#[test]
fn a_logarithmic_bar_has_no_length_to_compare_and_zero_makes_the_axis_linear() {
    let chart = |values: [f64; 2]| {
        Chart::Bars(Bars {
            head: head(),
            log: true,
            bars: values.map(|value| bar("cpu", value)).to_vec(),
            ..Bars::default()
        })
    };
    let count = |chart: &Chart, name: &str| {
        let svg = draw(chart, Theme::Light);
        let document = Document::parse(&svg).unwrap();
        marks(&document).iter().flat_map(|mark| mark.descendants()).filter(|node| node.has_tag_name(name)).count()
    };
    assert_eq!((count(&chart([1.0, 100.0]), "circle"), count(&chart([1.0, 100.0]), "rect")), (2, 0));
    assert_eq!((count(&chart([0.0, 100.0]), "circle"), count(&chart([0.0, 100.0]), "rect")), (0, 2));
}

#[test]
fn a_chart_with_nothing_in_it_says_no_data() {
    for chart in [
        bars(vec![]),
        Chart::Lines(Lines { head: head(), series: vec![Series::default()], ..Lines::default() }),
        Chart::HeatMap(HeatMap { head: head(), ..HeatMap::default() }),
        Chart::Pairs(Pairs { head: head(), ..Pairs::default() }),
    ] {
        assert!(chart.is_empty());
        let svg = draw(&chart, Theme::Light);
        let document = Document::parse(&svg).unwrap();
        assert!(says(&document, "no data") && says(&document, "Latency"));
    }
}

#[test]
fn a_prediction_is_hollow_and_never_taken_for_a_measurement() {
    let points = |y: f64| [1.0, 2.0].map(|x| Point { x, estimate: Estimate::within(x * y, y, 3.0 * y) }).to_vec();
    let measured =
        Series { name: "cpu".to_owned(), hardware: "cpu".to_owned(), points: points(2.0), ..Series::default() };
    let predicted = Series { predicted: true, points: points(3.0), ..measured.clone() };
    let chart = Chart::Lines(Lines { head: head(), series: vec![measured, predicted], ..Lines::default() });
    let svg = draw(&chart, Theme::Light);
    let document = Document::parse(&svg).unwrap();
    let all = marks(&document);
    let state = |mark: &Node<'_, '_>| mark.attribute("data-state").map(str::to_owned);
    let [measured, predicted] = &all[..2] else { panic!("{svg}") };
    assert_eq!((state(measured), state(predicted)), (Some("measured".to_owned()), Some("predicted".to_owned())));
    assert!(title(*predicted).ends_with("(predicted)") && !title(*measured).contains("predicted"));
    let fills = |mark: &Node<'_, '_>| -> Vec<String> {
        let points = mark.descendants().filter(|node| node.attribute("class") == Some("point"));
        points
            .flat_map(|point| point.descendants().filter_map(|node| node.attribute("fill")))
            .map(str::to_owned)
            .collect()
    };
    assert!(!fills(measured).is_empty() && fills(measured).iter().all(|fill| !fills(predicted).contains(fill)));
    assert!(svg.contains("interval of predictions"), "{svg}");
}

#[test]
fn a_line_has_a_gap_where_a_value_is_missing() {
    let point = |(x, y): (f64, Option<f64>)| Point { x, estimate: Estimate { value: y, low: None, high: None } };
    let chart = |middle: Option<f64>| {
        let points = [(1.0, Some(2.0)), (2.0, Some(3.0)), (4.0, middle), (8.0, Some(5.0)), (16.0, Some(6.0))];
        let series = Series {
            name: "cpu".to_owned(),
            hardware: "cpu".to_owned(),
            points: points.map(point).to_vec(),
            ..Series::default()
        };
        Chart::Lines(Lines { head: head(), series: vec![series], ..Lines::default() })
    };
    let starts = |chart: &Chart| {
        let svg = draw(chart, Theme::Light);
        let document = Document::parse(&svg).unwrap();
        let line = |node: &Node<'_, '_>| node.attribute("stroke-width") == Some("1.8");
        let paths = marks(&document)[0].descendants().filter(line).filter_map(|node| node.attribute("d"));
        paths.map(|path| path.matches('M').count()).sum::<usize>()
    };
    assert_eq!(starts(&chart(Some(4.0))), 1);
    assert_eq!(starts(&chart(None)), 2);
    assert_eq!(starts(&chart(Some(f64::NAN))), 2);
}

#[test]
fn ticks_of_lines_are_the_batch_sizes_that_exist() {
    let points = [1.0, 4.0, 8.0].map(|x| Point { x, estimate: Estimate::of(x) }).to_vec();
    let series = vec![Series { name: "cpu".to_owned(), points, ..Series::default() }];
    let svg = draw(&Chart::Lines(Lines { head: head(), series, ..Lines::default() }), Theme::Light);
    let document = Document::parse(&svg).unwrap();
    let texts = document
        .descendants()
        .filter(|node| node.has_tag_name("text") && node.attribute("text-anchor") == Some("middle"));
    assert_eq!(texts.filter_map(|node| node.text()).collect::<Vec<_>>(), ["1", "4", "8"]);
}

fn heat_map(states: Vec<CellState>) -> Chart {
    let columns = (0..states.len()).map(|index| Heading { label: format!("column {index}"), ..Heading::default() });
    Chart::HeatMap(HeatMap {
        head: head(),
        rows: vec![Heading { label: "gpt2".to_owned(), ..Heading::default() }],
        columns: columns.collect(),
        cells: vec![states.into_iter().map(|state| Cell { state, ..Cell::default() }).collect()],
        ..HeatMap::default()
    })
}

fn value(ratio: f64) -> CellState {
    let value = CellValue {
        text: "3.1".to_owned(),
        ratio: Some(ratio),
        ratio_text: format!("{ratio}×"),
        ..CellValue::default()
    };
    CellState::Value(value)
}

#[test]
fn failed_unavailable_unsupported_and_not_run_are_four_different_cells() {
    let chart = heat_map(vec![
        CellState::Failed { reason: "no kernel".to_owned() },
        CellState::Unavailable { reason: "no device".to_owned() },
        CellState::Unsupported,
        CellState::NotRun,
    ]);
    let svg = draw(&chart, Theme::Page);
    let document = Document::parse(&svg).unwrap();
    let marks = marks(&document);
    let states: Vec<_> = marks.iter().filter_map(|mark| mark.attribute("data-state")).collect();
    assert_eq!(states, ["failed", "unavailable", "unsupported", "not-run"]);
    assert_eq!(title(marks[0]), "gpt2, column 0: failed: no kernel");
    assert_eq!(title(marks[1]), "gpt2, column 1: unavailable: no device");
    assert!(says(&document, "no kernel") && says(&document, "no device"));
    assert!(marks[3].descendants().any(|node| node.attribute("fill").is_some_and(|fill| fill.starts_with("url("))));
}

#[test]
fn an_emulated_cell_has_no_colour_of_the_scale() {
    let CellState::Value(known) = value(8.0) else { unreachable!() };
    let svg = draw(&heat_map(vec![value(8.0), CellState::Emulated(known)]), Theme::Light);
    let document = Document::parse(&svg).unwrap();
    let fills: Vec<_> = marks(&document)
        .iter()
        .filter_map(|mark| mark.descendants().find(|node| node.has_tag_name("rect"))?.attribute("fill"))
        .collect();
    assert_ne!(fills[0], "none");
    assert_eq!(fills[1], "none");
}

#[test]
fn better_and_worse_ratios_have_colours_on_two_sides_of_the_middle() {
    let svg = draw(&heat_map(vec![value(0.25), value(1.0), value(4.0)]), Theme::Light);
    let document = Document::parse(&svg).unwrap();
    let fill = |mark: &Node<'_, '_>| {
        mark.descendants().find(|node| node.has_tag_name("rect")).unwrap().attribute("fill").unwrap().to_owned()
    };
    let fills: Vec<String> = marks(&document).iter().map(fill).collect();
    assert_eq!(fills, ["#a6540d", "#f4f2ee", "#215f9e"]);
}

#[test]
fn in_a_page_ink_and_paper_come_from_the_page() {
    let charts = [
        bars(vec![bar("cpu", 1.0), Bar { emulated: true, ..bar("qnn", 2.0) }]),
        heat_map(vec![CellState::NotRun, value(2.0)]),
    ];
    for chart in charts {
        let svg = draw(&chart, Theme::Page);
        let document = Document::parse(&svg).unwrap();
        assert!(document.root_element().attribute("fill").unwrap().starts_with("var(--ink,"));
        for ink in ["\"#222\"", "\"#5f6368\"", "\"#e2e4e8\"", "\"#000\"", "black"] {
            assert!(!svg.contains(ink), "{ink} is written into a drawing for a page");
        }
        assert!(!svg.contains("width=\"100%\""), "the page's own paper shows through");
    }
}

#[test]
fn files_have_colours_of_their_own_and_no_variables() {
    let chart = bars(vec![bar("cpu", 1.0)]);
    let (light, dark) = (draw(&chart, Theme::Light), draw(&chart, Theme::Dark));
    assert!(!light.contains("var(") && !dark.contains("var("));
    assert!(light.contains("fill=\"#fff\"") && dark.contains("fill=\"#16181d\""));
    assert!(light.contains("#1f77b4") && dark.contains("#1f77b4"), "hardware keeps its colour");
}

#[test]
fn ids_of_different_charts_do_not_meet_in_a_page() {
    let ids = |svg: &str| -> Vec<String> {
        let document = Document::parse(svg).unwrap();
        document.descendants().filter_map(|node| node.attribute("id")).map(str::to_owned).collect()
    };
    let one = ids(&draw(&bars(vec![Bar { emulated: true, ..bar("qnn", 1.0) }]), Theme::Page));
    let two = ids(&draw(&bars(vec![Bar { emulated: true, ..bar("qnn", 2.0) }]), Theme::Page));
    assert!(one.len() >= 3 && one.iter().all(|id| !two.contains(id)));
    let own = Chart::Bars(Bars { head: Head { id: Some("latency".to_owned()), ..head() }, ..Bars::default() });
    assert!(ids(&draw(&own, Theme::Page)).iter().all(|id| id.starts_with("latency-")));
    let odd = Chart::Bars(Bars { head: Head { id: Some("a b\"><script>".to_owned()), ..head() }, ..Bars::default() });
    assert!(
        ids(&draw(&odd, Theme::Page)).iter().all(|id| id.chars().all(|one| one.is_ascii_alphanumeric() || one == '-'))
    );
}

#[test]
fn a_drawing_is_named_for_those_who_do_not_see_it() {
    let svg = draw(&bars(vec![bar("cpu", 1.0)]), Theme::Page);
    let document = Document::parse(&svg).unwrap();
    let root = document.root_element();
    assert_eq!(root.attribute("role"), Some("img"));
    for (id, text) in root.attribute("aria-labelledby").unwrap().split(' ').zip(["Latency", "ms; lower is better"]) {
        let named = document.descendants().find(|node| node.attribute("id") == Some(id)).unwrap();
        assert_eq!(named.text(), Some(text));
    }
}

#[test]
fn the_name_of_an_attribute_is_checked() {
    for name in ["", "Model", "on click", "x\"y", "1st", "ä"] {
        assert!(matches!(Attributes::of([(name, "value")]), Err(ChartError::Attribute { .. })), "{name:?}");
    }
    assert!(serde_json::from_str::<Attributes>(r#"{"on click": "x"}"#).is_err());
    let mut mark = bar("cpu", 1.0);
    mark.attributes = Attributes::of([("note", "\"><script>"), ("hardware", "not this one")]).unwrap();
    let svg = draw(&bars(vec![mark]), Theme::Page);
    let document = Document::parse(&svg).unwrap();
    assert_eq!(marks(&document)[0].attribute("data-note"), Some("\"><script>"));
    assert_eq!(marks(&document)[0].attribute("data-hardware"), Some("cpu"));
}

#[test]
fn a_description_survives_being_written_and_read() {
    let chart = Chart::Bars(Bars {
        head: head(),
        reference: Some(Reference { value: 1.0, label: "cpu = 1".to_owned() }),
        bars: vec![bar("cpu", 1.5), Bar { estimate: Estimate::default(), ..bar("cuda", 1.0) }],
        ..Bars::default()
    });
    let text = serde_json::to_string(&chart).unwrap();
    assert!(text.starts_with(r#"{"kind":"bars""#));
    assert_eq!(serde_json::from_str::<Chart>(&text).unwrap(), chart);
    let point = Point { x: 4.0, estimate: Estimate::within(1.0, 0.5, 2.0) };
    assert_eq!(serde_json::from_str::<Point>(&serde_json::to_string(&point).unwrap()).unwrap(), point);
    for state in [value(2.0), CellState::NotRun, CellState::Failed { reason: "why".to_owned() }] {
        assert_eq!(serde_json::from_str::<CellState>(&serde_json::to_string(&state).unwrap()).unwrap(), state);
    }
}

#[test]
fn charts_of_rows_grow_with_their_rows_and_stay_lean() {
    let of = |count: usize| bars((0..count).map(|index| bar("cpu", 1.0 + index as f64)).collect());
    let (few, many) = (of(5).natural_size(720), of(200).natural_size(720));
    assert!(many.height > 20 * few.height);
    let svg = draw(&of(20), Theme::Page);
    assert!(svg.len() < 15_000, "{} bytes for 20 bars", svg.len());
}

#[test]
fn a_size_that_is_too_small_shows_the_whole_chart_smaller() {
    let chart = bars((0..50).map(|index| bar("cpu", f64::from(index))).collect());
    let svg = chart.svg(&Look::default(), Size { width: 720, height: 90 }, Theme::Light);
    let document = Document::parse(&svg).unwrap();
    let root = document.root_element();
    assert_eq!((root.attribute("width"), root.attribute("height")), (Some("720"), Some("90")));
    let height: f64 = root.attribute("viewBox").unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    assert!(height > 700.0);
    assert_eq!(marks(&document).len(), 50);
}

#[test]
fn both_values_of_a_pair_are_told_and_one_that_is_missing_is_named() {
    let pair = Pair {
        label: "gpt2".to_owned(),
        before: Estimate::of(2.0),
        after: Estimate::default(),
        hardware: "cuda".to_owned(),
        ..Pair::default()
    };
    let (before, after) = ("monday".to_owned(), "tuesday".to_owned());
    let svg = draw(
        &Chart::Pairs(Pairs {
            head: head(),
            unit: "ms".to_owned(),
            before,
            after,
            pairs: vec![pair],
            ..Pairs::default()
        }),
        Theme::Light,
    );
    let document = Document::parse(&svg).unwrap();
    assert_eq!(title(marks(&document)[0]), "gpt2, cuda: monday 2 ms; tuesday not measured");
    assert!(says(&document, "tuesday: not measured"));
}
