//! The best hardware for each model and each architecture over all that was measured on a machine, and what to change.

use super::super::{CommandError, failed};
use skillbench_report::Table;
use skillbench_results::Stored;
use skillbench_results::questions::{Goal, opportunities, optimal_per_architecture, optimal_per_model};
use skillbench_session::forecast::Asked;
use skillbench_store::Database;
use skillbench_store::database::{Filter, text_literal};

type Part = (&'static str, &'static str, Table);

pub fn parts(database: &Database, machine: &str, asked: &[Asked], goal: Goal) -> Result<Vec<Part>, CommandError> {
    let names: Vec<String> = asked.iter().map(|one| text_literal(&one.model)).collect();
    let models = if names.is_empty() { "NULL".to_string() } else { names.join(", ") };
    let filter =
        Filter::sql(&format!("machine = {} AND model_id IN ({models}) AND beside IS NULL", text_literal(machine)));
    let cells = Stored::from_database(database, &filter).map_err(failed)?.cells;
    let table = |mut table: Table| {
        table.keep_columns(|name, _| name != "machine");
        table
    };
    let of = |frame: Result<_, _>| frame.map(|frame| table(Table::from_frame(&frame))).map_err(failed);
    Ok(vec![
        ("per_model", "The best hardware for each model", of(optimal_per_model(cells.clone(), goal))?),
        (
            "per_architecture",
            "The best hardware for each architecture",
            of(optimal_per_architecture(cells.clone(), goal))?,
        ),
        ("opportunities", "What to change", of(opportunities(cells))?),
    ])
}
