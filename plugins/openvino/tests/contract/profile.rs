//! What operators cost, by OpenVINO's own counts.

use super::real;
use skillbench_testkit::Sizes::Open;
use skillbench_testkit::profile;

#[test]
fn the_products_of_the_probe_are_told_with_their_kernels_as_means() {
    let recorded = profile::the_products_of_the_probe_are_told_and_fit_into_its_runs(&real(&[("threads", "1")]), Open);
    for operator in &recorded.operators {
        assert_eq!((operator.run, operator.start_ns), (None, None), "OpenVINO tells means, and no moments");
        assert!(!operator.name.is_empty() && !operator.kernel.is_empty(), "{operator:?}");
    }
}

#[test]
fn a_model_that_is_measured_records_nothing() {
    profile::a_model_that_is_measured_records_nothing(&real(&[]));
}
