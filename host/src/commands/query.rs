//! `host query`: SQL, and its answer as a table.

use super::{CommandError, Done, Exit, failed, usage};
use crate::cli::{Global, QueryArgs};
use crate::output;
use skillbench_record::suggest::did_you_mean;
use skillbench_report::Table;
use skillbench_store::Database;
use std::collections::BTreeSet;

/// What compares architectures.
const BY_ARCHITECTURE: &str = "throughput-by-architecture";

pub fn query(global: &Global, args: &QueryArgs) -> Done {
    let database = args.stored.database(global);
    let answer = database.query(&sql(&database, args)?).map_err(failed)?;
    let table = Table::from_values(answer.columns, answer.rows);
    match &args.output {
        None => output::table(&table, global.format.into()),
        Some(file) => output::to_file(file, table.render(global.format.into()).as_bytes()).map_err(failed)?,
    }
    Ok(Exit::Good)
}

fn sql(database: &Database, args: &QueryArgs) -> Result<String, CommandError> {
    let name = match (&args.report, args.architecture_performance_comparison) {
        (Some(name), _) => name,
        (None, true) => BY_ARCHITECTURE,
        (None, false) => return Ok(args.sql.as_ref().or(args.sql_flag.as_ref()).cloned().unwrap_or_default()),
    };
    let described = database.describe().map_err(failed)?;
    let known: BTreeSet<String> =
        described.rows.iter().filter_map(|row| row.first()?.as_str()).map(|table| table.replace('_', "-")).collect();
    let name = name.to_lowercase().replace('_', "-");
    if !known.contains(&name) {
        let near = did_you_mean(&name, known.iter().map(String::as_str));
        let all: Vec<&str> = known.iter().map(String::as_str).collect();
        return Err(usage(format!("no table or view '{name}'{near}; there are: {}", all.join(", "))));
    }
    Ok(format!("SELECT * FROM {}", name.replace('-', "_")))
}
