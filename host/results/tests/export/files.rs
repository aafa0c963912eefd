//! Whole files, of a run that was made with three models on two backends: one that is there, and one that is not.

use crate::made::{golden, pretty};
use skillbench_record::Run;
use skillbench_record::catalog::Better;
use skillbench_results::{export, frames, matrix};

pub fn real() -> Run {
    serde_json::from_str(include_str!("golden/run.json")).unwrap()
}

#[test]
fn the_suite_result_of_a_real_run_is_the_file_that_is_kept() {
    golden("export", "suite.json", &pretty(&export::suite(&real())));
}

#[test]
fn the_flat_result_of_a_real_run_is_the_file_that_is_kept() {
    golden("export", "flat.json", &pretty(&export::flat(&real())));
    golden("export", "flat.csv", &export::flat_csv([&real()]).unwrap());
}

#[test]
fn what_services_that_follow_a_real_run_get_are_the_files_that_are_kept() {
    golden("export", "bencher.json", &pretty(&export::bencher(&real()).unwrap()));
    golden("export", "smaller.json", &pretty(&export::action(&real(), Better::Lower).unwrap()));
    golden("export", "bigger.json", &pretty(&export::action(&real(), Better::Higher).unwrap()));
    golden("export", "openmetrics.txt", &export::openmetrics(&real()));
}

#[test]
fn the_skillset_result_of_a_real_run_is_the_file_that_is_kept() {
    golden("export", "skillset.json", &pretty(&export::skillset(&real())));
}

#[test]
fn the_matrix_of_a_real_run_is_the_file_that_is_kept() {
    let matrix = matrix::build(&frames::cells([&real()]).unwrap()).unwrap();
    golden("export", "compatibility_matrix.json", &pretty(&matrix::json(&matrix)));
}
