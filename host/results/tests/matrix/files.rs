//! Whole files: JSON and Markdown of a matrix that has every word in it.

use crate::build::matrix;
use crate::made::{at_batch, ended, golden, measured, pretty, run, with};
use serde_json::{Value, json};
use skillbench_record::Run;
use skillbench_results::matrix::{Matrix, json as file, markdown, read, table};

fn vision(cell: Value) -> Value {
    with(cell, json!({"family": "vision"}))
}

fn runs() -> Vec<Run> {
    let took = |plugin: &str, model: &str, ms: f64| measured(plugin, model, ms, ms, 1.0);
    let first = vec![
        took("cpu", "bert-tiny", 8.0),
        took("cuda", "bert-tiny", 1.0),
        at_batch(ended("cuda", "bert-tiny", "failed", "there is no memory for it; take a smaller batch"), 64),
        took("openvino", "bert-tiny", 5.0),
        took("rten", "bert-tiny", 16.0),
        with(took("qnn", "bert-tiny", 400.0), json!({"emulated": true})),
        vision(took("cpu", "resnet-18", 10.0)),
        vision(took("openvino", "resnet-18", 10.0)),
        vision(ended("cuda", "resnet-18", "unavailable", "there is no driver; install it")),
        vision(ended("rten", "resnet-18", "crashed", "the worker was ended by SIGSEGV | see its output")),
        vision(ended("qnn", "resnet-18", "unsupported", "no operator <Col2Im>")),
    ];
    let second = vec![took("cpu", "bert-tiny", 8.0), took("cuda", "bert-tiny", 2.0)];
    vec![run("20261121-120000-00001", 0, first), run("20261121-120007-00002", 7, second)]
}

fn made() -> Matrix {
    matrix(&runs())
}

#[test]
fn the_json_is_the_file_that_is_kept() {
    golden("matrix", "compatibility_matrix.json", &pretty(&file(&made())));
}

#[test]
fn the_markdown_is_the_file_that_is_kept() {
    golden("matrix", "compatibility_matrix.md", &markdown(&made()));
}

#[test]
fn what_is_written_is_read_back_as_it_was() {
    assert_eq!(read(&file(&made())).unwrap(), made());
}

#[test]
fn a_table_has_a_row_for_each_model_and_one_for_its_family() {
    let (columns, rows) = table(&made(), false);
    assert_eq!(columns, ["family", "model", "cpu", "cuda", "openvino", "qnn", "rten"]);
    assert_eq!(
        rows[1][1..],
        [
            json!("bert-tiny"),
            json!("medium, 1.00×"),
            json!("high, 4.00×"),
            json!("medium-high, 1.60×"),
            json!("unknown, emulated"),
            json!("low, 0.50×")
        ]
    );
    assert_eq!(
        rows[3][3..],
        [json!("unknown, unavailable"), json!("medium, 1.00×"), json!("n/a, unsupported"), json!("n/a, failed")]
    );
    let (columns, rows) = table(&made(), true);
    assert_eq!(rows.len(), 2 * 2 * 5);
    assert!(rows.iter().all(|row| row.len() == columns.len()));
}
