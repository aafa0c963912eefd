//! Whole files, of a run that was made with three models on two backends: one that is there, and one that is not.

use crate::made::{golden, pretty};
use skillbench_record::Run;
use skillbench_results::{forms, frames, matrix};

pub fn real() -> Run {
    serde_json::from_str(include_str!("golden/run.json")).unwrap()
}

#[test]
fn the_suite_result_of_a_real_run_is_the_file_that_is_kept() {
    golden("forms", "suite.json", &pretty(&forms::suite(&real())));
}

#[test]
fn the_flat_result_of_a_real_run_is_the_file_that_is_kept() {
    golden("forms", "flat.json", &pretty(&forms::flat(&real())));
    golden("forms", "flat.csv", &forms::flat_csv([&real()]).unwrap());
}

#[test]
fn the_skillset_result_of_a_real_run_is_the_file_that_is_kept() {
    golden("forms", "skillset.json", &pretty(&forms::skillset(&real())));
}

#[test]
fn the_matrix_of_a_real_run_is_the_file_that_is_kept() {
    let matrix = matrix::build(&frames::cells([&real()]).unwrap()).unwrap();
    golden("forms", "compatibility_matrix.json", &pretty(&matrix::json(&matrix)));
}
