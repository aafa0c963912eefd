//! `host query`: SQL, and its answer as a table.

use super::recommend::recommend;
use super::{CommandError, Done, Exit, failed, usage};
use crate::cli::{Global, QueryArgs, RecommendArgs};
use crate::output;
use skillbench_record::suggest::did_you_mean;
use skillbench_report::Table;
use skillbench_store::Database;
use skillbench_store::database::identifier;
use std::collections::BTreeMap;

/// What compares architectures.
const BY_ARCHITECTURE: &str = "throughput-by-architecture";

pub fn query(global: &Global, args: &QueryArgs) -> Done {
    if args.optimal_hardware_analysis {
        return recommend(global, &RecommendArgs::analysis(args.stored.clone(), args.output.clone()));
    }
    let database = args.stored.whole(global)?;
    let sql = sql(&database, args)?;
    let answer = match args.is_unsafe {
        false => database.query(&sql),
        true => {
            output::warning(
                "--unsafe: the statement can change the database, read and write files, and load extensions",
            );
            database.query_whole(&sql)
        }
    };
    let answer = answer.map_err(failed)?;
    let table = Table::from_values(answer.columns, answer.rows);
    match &args.output {
        None => output::table(&table, global.format.into()),
        Some(file) => output::to_file(file, table.render(global.format.into()).as_bytes()).map_err(failed)?,
    }
    Ok(Exit::Good)
}

fn sql(database: &Database, args: &QueryArgs) -> Result<String, CommandError> {
    let name = match (&args.view, args.architecture_performance_comparison) {
        (Some(name), _) => name,
        (None, true) => BY_ARCHITECTURE,
        (None, false) => return Ok(args.sql.as_ref().or(args.sql_flag.as_ref()).cloned().unwrap_or_default()),
    };
    let described = database.describe().map_err(failed)?;
    let same = |table: &str| table.to_lowercase().replace('_', "-");
    let known: BTreeMap<String, &str> =
        described.rows.iter().filter_map(|row| row.first()?.as_str()).map(|table| (same(table), table)).collect();
    let name = same(name);
    match known.get(&name) {
        Some(table) => Ok(format!("SELECT * FROM {}", identifier(table))),
        None => {
            let near = did_you_mean(&name, known.keys().map(String::as_str));
            let all: Vec<&str> = known.keys().map(String::as_str).collect();
            Err(usage(format!("no table or view '{name}'{near}; there are: {}", all.join(", "))))
        }
    }
}
