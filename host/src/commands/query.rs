//! `host query`: SQL, and its answer as a table.

use super::{Done, Exit, failed};
use crate::cli::{Global, QueryArgs};
use crate::output;
use skillbench_report::Table;

pub fn query(global: &Global, args: &QueryArgs) -> Done {
    let sql = args.sql.as_ref().or(args.sql_flag.as_ref()).map_or("", String::as_str);
    let answer = args.stored.database(global).query(sql).map_err(failed)?;
    let table = Table::from_values(answer.columns, answer.rows);
    match &args.output {
        None => output::table(&table, global.format.into()),
        Some(file) => output::to_file(file, table.render(global.format.into()).as_bytes()).map_err(failed)?,
    }
    Ok(Exit::Good)
}
