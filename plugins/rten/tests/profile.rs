//! What operators cost, as rten times them: in a process whose output no test harness has taken for itself.

use skillbench_plugin_api::client::Instance;
use skillbench_plugin_api::{Code, Load};
use skillbench_rten::RtenBackend;
use skillbench_testkit::Sizes::Open;
use skillbench_testkit::profile::RUNS;
use skillbench_testkit::{load_of, probe, profile};

fn main() {
    let there = opened("1").profiles();
    assert_eq!(there, cfg!(unix), "rten's words can be had where an output can be put in another's place");
    if !there {
        skillbench_testkit::skipped("no output can be put in another's place on this system");
        return;
    }
    the_products_of_the_probe_are_told_run_by_run_without_moments();
    a_model_that_is_measured_records_nothing();
    a_model_can_be_recorded_again();
}

fn opened(threads: &str) -> Instance {
    skillbench_testkit::open::<RtenBackend>(&[("threads", threads)]).unwrap()
}

fn the_products_of_the_probe_are_told_run_by_run_without_moments() {
    for threads in ["1", "2"] {
        let recorded = profile::the_products_of_the_probe_are_told_and_fit_into_its_runs(&opened(threads), Open);
        assert_eq!(recorded.operators.len() % RUNS, 0, "as many in each run");
        let without_moments = recorded.operators.iter().all(|one| one.run.is_some() && one.start_ns.is_none());
        assert!(without_moments, "rten tells durations alone");
    }
}

fn a_model_that_is_measured_records_nothing() {
    profile::a_model_that_is_measured_records_nothing(&opened("1"));
}

fn a_model_can_be_recorded_again() {
    let instance = opened("1");
    let model = instance.load(&Load { profile: true, ..load_of(&probe::path()) }).unwrap();
    let recording = instance.recording(&model).unwrap();
    assert_eq!(recording.end().unwrap_err().code, Code::FailedPrecondition, "nothing was begun");
    let mut request = probe::bound(&model, &[0.5; probe::INPUT]);
    for runs in [2, 1] {
        recording.begin().unwrap();
        (0..runs).for_each(|_| request.run().unwrap());
        assert_eq!(recording.end().unwrap().iter().filter_map(|one| one.run).max(), Some(runs - 1));
        request.run().unwrap();
    }
}
