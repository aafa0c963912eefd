use crate::cells::{Row, ended, frame, measured};
use crate::{drawn, only, plots, samples};
use skillbench_charts::{CellState, Chart};
use skillbench_report::plots::{PlotKind, Sources, draw};
use std::collections::BTreeSet;

/// Three hardware on a model; one emulated, one that failed, one that is not there.
fn rows() -> Vec<Row> {
    vec![
        measured("cpu", "a", 10.0),
        measured("openvino", "a", 5.0),
        measured("qnn", "a", 900.0).emulated(),
        ended("rten", "a", "failed", "no operator").with("batch_size", 1i64),
        ended("cuda", "a", "unavailable", "no driver").with("batch_size", 1i64),
    ]
}

#[test]
fn names_are_those_of_the_command_line_and_come_back() {
    let names: BTreeSet<&str> = PlotKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!((names.len(), PlotKind::ALL.len()), (23, 23));
    PlotKind::ALL.iter().for_each(|kind| assert_eq!(kind.name().parse::<PlotKind>().unwrap(), *kind));
    let unknown = "latencies".parse::<PlotKind>().unwrap_err().to_string();
    assert!(unknown.contains("latencies") && unknown.contains("heat-map"));
}

#[test]
fn what_failed_and_what_is_unavailable_stand_with_their_reasons() {
    for kind in [PlotKind::HardwareComparison, PlotKind::Latency, PlotKind::ModelHeatMap] {
        let plot = only(kind, frame(rows()));
        let svg = drawn(&plot);
        assert!(svg.contains("no operator") && svg.contains("no driver"), "{kind}");
    }
}

#[test]
fn a_mark_carries_what_a_page_filters_by() {
    let svg = drawn(&only(PlotKind::HardwareComparison, frame(rows())));
    for attribute in [
        "data-hardware=\"openvino\"",
        "data-model=\"a\"",
        "data-family=\"vision\"",
        "data-benchmark=\"inference\"",
        "data-precision=\"float32\"",
        "data-outcome=\"measured\"",
        "data-outcome=\"failed\"",
        "data-trust=\"emulated\"",
    ] {
        assert!(svg.contains(attribute), "{attribute}");
    }
}

#[test]
fn a_heat_map_tells_failed_unavailable_emulated_and_not_run_apart() {
    let mut rows = rows();
    rows.push(measured("cpu", "b", 1.0));
    let plot = only(PlotKind::ModelHeatMap, frame(rows));
    let Chart::HeatMap(map) = &plot.chart else { panic!("{:?}", plot.chart) };
    let names: Vec<&str> = map.columns.iter().map(|column| column.label.as_str()).collect();
    assert_eq!(names, ["cpu", "openvino", "qnn", "rten", "cuda"]);
    let states = |row: usize| map.cells[row].iter().map(|cell| &cell.state).collect::<Vec<_>>();
    assert!(matches!(
        states(0)[..],
        [
            CellState::Value(_),
            CellState::Value(_),
            CellState::Emulated(_),
            CellState::Failed { .. },
            CellState::Unavailable { .. }
        ]
    ));
    assert!(states(1)[1..].iter().all(|state| **state == CellState::NotRun));
    assert!(plot.table.columns.iter().any(|column| column == "reason"), "the table has what was not measured too");
    assert_eq!(plot.table.rows.len(), 6);
}

#[test]
fn precisions_machines_and_benchmarks_are_never_in_one_chart() {
    let cells = [
        measured("cpu", "a", 10.0),
        measured("cpu", "a", 5.0).with("precision", "float16").with("precision_requested", "float16"),
        measured("cpu", "a", 9.0).with("hostname", "other"),
        measured("cpu", "a", 9.0).with("benchmark", "other"),
    ];
    for kind in [PlotKind::Latency, PlotKind::HardwareComparison, PlotKind::ModelHeatMap, PlotKind::Family] {
        let plots = plots(kind, frame(cells.clone()));
        assert_eq!(plots.len(), 4, "{kind}");
        let names: BTreeSet<&str> = plots.iter().map(|plot| plot.name.as_str()).collect();
        assert_eq!(names.len(), 4, "each has a file name of its own: {names:?}");
    }
}

#[test]
fn in_a_ranking_what_is_emulated_or_unverified_comes_after_measured_hardware() {
    let cells = frame([
        measured("qnn", "a", 0.1).emulated(),
        measured("webnn", "a", 0.2).unverified(),
        measured("cpu", "a", 10.0),
        measured("openvino", "a", 5.0),
    ]);
    for kind in [PlotKind::Family, PlotKind::Speedup] {
        let all = plots(kind, cells.clone());
        let plot = all.last().unwrap();
        let Chart::Bars(bars) = &plot.chart else { panic!("{:?}", plot.chart) };
        let groups: Vec<&str> = bars.bars.iter().map(|bar| bar.group.as_str()).collect();
        assert!(groups.ends_with(&["", "unverified", "emulated"]), "{kind}: {groups:?}");
    }
}

#[test]
fn lines_have_a_point_for_each_batch_and_a_gap_for_none() {
    let cells = frame([
        measured("cpu", "a", 10.0).at_batch(1),
        measured("cpu", "a", 16.0).at_batch(4),
        measured("openvino", "a", 5.0).at_batch(1),
    ]);
    let plot = only(PlotKind::Latency, cells.clone());
    let Chart::Lines(lines) = &plot.chart else { panic!("{:?}", plot.chart) };
    let points: Vec<usize> = lines.series.iter().map(|series| series.points.len()).collect();
    assert_eq!(points, [2, 1]);
    assert_eq!(lines.series[0].points[1].estimate.high, Some(16.0 * 1.01));
    let plot = only(PlotKind::BatchScaling, cells);
    let Chart::Lines(lines) = &plot.chart else { panic!("{:?}", plot.chart) };
    assert_eq!(lines.series.len(), 1, "one batch alone does not scale");
    assert_eq!(lines.ideal.as_ref().unwrap().points, [(1.0, 1.0), (4.0, 4.0)]);
}

#[test]
fn before_and_after_shows_pairs_and_counts_the_rest() {
    let sources = Sources {
        cells: frame([measured("cpu", "a", 5.0), measured("cpu", "new", 1.0)]),
        before: Some(frame([measured("cpu", "a", 10.0)])),
        ..Sources::default()
    };
    let plot = draw(PlotKind::BeforeAfter, &sources).unwrap().remove(0);
    let Chart::Pairs(pairs) = &plot.chart else { panic!("{:?}", plot.chart) };
    assert_eq!((pairs.pairs.len(), pairs.pairs[0].ratio.as_str()), (1, "2× faster"));
    assert!(pairs.head.subtitle.contains("0 cells only before, 1 only after"));
    assert_eq!(plot.table.rows.len(), 2);
}

#[test]
fn samples_are_drawn_in_milliseconds_with_every_bin_between() {
    let values = (0..50).map(|i| (0, 1e6 + 1e4 * f64::from(i))).chain([(0, 2e6)]);
    let sources =
        Sources { cells: frame([measured("cpu", "a", 1.0)]), samples: Some(samples(values)), ..Sources::default() };
    let plot = draw(PlotKind::Distribution, &sources).unwrap().remove(0);
    let Chart::Distribution(chart) = &plot.chart else { panic!("{:?}", plot.chart) };
    let bins = &chart.series[0];
    assert_eq!(bins.edges.len(), bins.counts.len() + 1);
    assert!(bins.edges.is_sorted() && bins.edges[0] == 1.0 && chart.unit == "ms");
    assert_eq!(bins.counts.iter().sum::<u64>() + bins.outliers.unwrap(), 51);
    drawn(&plot);
}

#[test]
fn a_trend_marks_where_a_version_changed() {
    let cells = frame([
        measured("cuda", "a", 10.0).on_day("one", 1).with("driver_version", "1.0"),
        measured("cuda", "a", 8.0).on_day("two", 2).with("driver_version", "2.0"),
    ]);
    let plot = only(PlotKind::Trend, cells);
    let Chart::Trend(trend) = &plot.chart else { panic!("{:?}", plot.chart) };
    assert_eq!(trend.changes.iter().map(|change| change.label.as_str()).collect::<Vec<_>>(), ["cuda 2.0"]);
    assert_eq!(trend.series[0].points[0].x, 86_400.0);
}

#[test]
fn an_architecture_says_how_many_models_are_behind_its_mean() {
    let cells = frame([measured("cpu", "a", 10.0), measured("openvino", "a", 5.0), measured("openvino", "b", 5.0)]);
    let plot = only(PlotKind::ArchitectureComparison, cells);
    let Chart::Bars(bars) = &plot.chart else { panic!("{:?}", plot.chart) };
    assert_eq!(bars.bars.len(), 1, "the CPU is the line to compare with, and no bar");
    assert_eq!(bars.bars[0].estimate.value, Some(2.0));
    assert_eq!(bars.bars[0].note, "1 model, 1 without a cell of the cpu");
}

#[test]
fn a_share_that_has_no_peak_says_where_peaks_come_from() {
    let cells = frame([
        measured("cpu", "a", 1.0).with("flops_per_sec", 1e9).with("share_of_peak_flops", 0.5),
        measured("cuda", "a", 1.0).with("flops_per_sec", 1e9),
        measured("rten", "a", 1.0).with("weight_bytes_per_sec", 1e9),
        measured("mps", "a", 1.0).with("flops_per_sec", 1e9).with("share_of_peak_flops", 1.5),
    ]);
    let plot = only(PlotKind::Efficiency, cells);
    let Chart::Bars(bars) = &plot.chart else { panic!("{:?}", plot.chart) };
    let note = |hardware: &str| bars.bars.iter().find(|bar| bar.hardware == hardware).unwrap().note.clone();
    assert!(note("cuda").contains("--bench roofline") && note("rten").contains("nobody counted"));
    assert!(note("mps").contains("above the measured peak"));
}

#[test]
fn an_advice_stands_with_its_evidence() {
    let cells = frame([measured("cpu", "a", 10.0).at_batch(1), measured("cpu", "a", 20.0).at_batch(4)]);
    let plot = only(PlotKind::Opportunities, cells);
    let Chart::Bars(bars) = &plot.chart else { panic!("{:?}", plot.chart) };
    assert_eq!(bars.bars[0].note, "batch=1 → batch=4: 100 → 200 1/s");
    assert_eq!(bars.bars[0].group, "Use a larger batch");
}

/// A cell whose requests came at a rate.
fn at_rate(plugin: &'static str, axes: &'static str, per_s: f64, p99: f64) -> Row {
    measured(plugin, "a", p99 / 2.0)
        .with("benchmark", "serving")
        .with("axes", axes)
        .with("issued_per_sec", per_s)
        .with("latency_99p_ms", p99)
}

#[test]
fn latency_is_drawn_against_the_rate_with_a_line_for_each_way_to_put_requests_together() {
    let cells = frame([
        at_rate("cpu", "batch=1 rate=200", 199.0, 40.0),
        at_rate("cpu", "batch=1 rate=100", 101.0, 8.0),
        at_rate("cpu", "batch=8 batch_wait_us=2000 rate=100", 100.0, 9.0),
        at_rate("cpu", "batch=1 rate=100", 100.0, 9.0).with("options", "slo=latency.p99<=20ms"),
        at_rate("cpu", "batch=1 rate=400", 398.0, 1.0)
            .without("latency_99p_ms")
            .without("latency_median_ms")
            .with("error_rate", 0.2),
        measured("cpu", "a", 1.0),
    ]);
    let all = plots(PlotKind::Load, cells);
    assert_eq!(all.len(), 2, "a limit is a chart of its own");
    assert!(all[1].name.contains("latency.p99-20ms"), "{}", all[1].name);
    let Chart::Lines(chart) = &all[0].chart else { panic!("{:?}", all[0].chart) };
    let lines: Vec<Vec<(f64, Option<f64>)>> = chart
        .series
        .iter()
        .map(|series| series.points.iter().map(|point| (point.x, point.estimate.value)).collect())
        .collect();
    assert_eq!(
        lines,
        [vec![(101.0, Some(8.0)), (199.0, Some(40.0)), (398.0, None)], vec![(100.0, Some(9.0))]],
        "refusals leave a gap"
    );
    assert!(chart.series[1].name.contains("batch_wait_us=2000"), "{}", chart.series[1].name);
    drawn(&all[0]);
}

#[test]
fn a_capacity_stands_with_its_interval_and_one_that_was_not_found_with_the_reason() {
    let slo = |row: Row| row.with("benchmark", "serving").with("options", "slo=latency.p99<=20ms");
    let bears = |plugin, per_s: f64| {
        slo(measured(plugin, "a", 1.0))
            .with("capacity_per_sec", per_s)
            .with("capacity_ci95_low_per_sec", per_s - 10.0)
            .with("capacity_ci95_high_per_sec", per_s + 20.0)
    };
    let cells =
        frame([bears("cpu", 100.0), bears("cuda", 900.0), slo(ended("rten", "a", "failed", "no rate keeps it"))]);
    let plot = only(PlotKind::Capacity, cells);
    let Chart::Bars(chart) = &plot.chart else { panic!("{:?}", plot.chart) };
    let cuda = chart.bars.iter().find(|bar| bar.hardware.starts_with("cuda")).unwrap();
    assert_eq!((cuda.estimate.value, cuda.estimate.low, cuda.estimate.high), (Some(900.0), Some(890.0), Some(920.0)));
    assert!(chart.head.subtitle.contains("latency.p99<=20ms"));
    assert!(drawn(&plot).contains("no rate keeps it"));
}
