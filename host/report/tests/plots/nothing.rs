use crate::cells::{ended, frame, measured};
use crate::{drawn, only, plots, samples};
use polars::prelude::DataFrame;
use skillbench_report::plots::{PlotKind, Sources, draw};

#[test]
fn a_kind_without_anything_to_show_says_no_data_and_why() {
    for kind in PlotKind::ALL {
        let plot = only(*kind, frame([]));
        let svg = drawn(&plot);
        assert!(plot.chart.is_empty() && svg.contains("no data") && svg.contains("holds no cells"), "{kind}");
        assert_eq!(plot.name, kind.name());
    }
}

#[test]
fn where_no_cell_was_measured_the_most_frequent_reason_is_told() {
    let cells = [("a", "no driver"), ("b", "no driver"), ("c", "no memory")];
    let cells = frame(cells.map(|(model, reason)| ended("cuda", model, "unavailable", reason)));
    for kind in PlotKind::ALL.iter().filter(|kind| **kind != PlotKind::BeforeAfter) {
        let plot = only(*kind, cells.clone());
        let svg = drawn(&plot);
        assert!(svg.contains("None of the 3 cells was measured") && svg.contains("no driver"), "{kind}: {svg}");
        assert_eq!(plot.table.rows.len(), 2, "the problems are the table behind it");
    }
}

#[test]
fn one_point_is_drawn_by_every_kind_or_said_to_be_too_little() {
    let one = frame([measured("cpu", "a", 1.0)]);
    let sources =
        Sources { cells: one.clone(), before: Some(one), samples: Some(samples([(0, 5e6)])), ..Sources::default() };
    for kind in PlotKind::ALL {
        draw(*kind, &sources).unwrap().iter().for_each(|plot| drop(drawn(plot)));
    }
    assert!(
        only(PlotKind::BatchScaling, frame([measured("cpu", "a", 1.0)])).chart.is_empty(),
        "one batch does not scale"
    );
}

#[test]
fn two_runs_without_a_cell_in_common_say_what_may_differ() {
    let of = |threads: i64| frame([measured("cpu", "a", 1.0).with("threads", threads)]);
    let sources = Sources { cells: of(2), before: Some(of(1)), ..Sources::default() };
    let plots = draw(PlotKind::BeforeAfter, &sources).unwrap();
    assert!(drawn(&plots[0]).contains("they differ in model, point, precision, threads"), "{}", drawn(&plots[0]));
}

#[test]
fn a_frame_that_is_none_of_cells_is_an_error_and_no_panic() {
    let strange = polars::prelude::df!("outcome" => ["measured"], "this" => [1.0]).unwrap();
    for kind in PlotKind::ALL {
        let sources = Sources { cells: strange.clone(), before: Some(strange.clone()), ..Sources::default() };
        let _ = draw(*kind, &sources);
    }
    assert!(draw(PlotKind::Latency, &Sources { cells: strange, ..Sources::default() }).is_err());
    assert!(draw(PlotKind::Latency, &Sources { cells: DataFrame::default(), ..Sources::default() }).is_err());
}

#[test]
fn what_is_no_number_is_not_drawn() {
    let nan = measured("cpu", "a", f64::NAN).with("throughput_samples_per_sec", f64::INFINITY);
    for kind in PlotKind::ALL {
        for plot in plots(*kind, frame([nan.clone(), measured("openvino", "a", 2.0)])) {
            let svg = drawn(&plot);
            assert!(!svg.contains("NaN") && !svg.contains("inf "), "{kind}: {svg}");
        }
    }
}
