//! Which cells are meant: a condition in SQL, which is one expression and nothing else.

use super::query::refused;
use super::{DatabaseError, text_literal};
use duckdb::Connection;
use serde_json::Value;

/// Which runs are meant: a condition in SQL on the columns of `benchmark_results`, or all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub condition: Option<String>,
}

impl Filter {
    pub fn all() -> Filter {
        Filter::default()
    }

    /// The cells of these runs.
    pub fn runs<'a>(runs: impl IntoIterator<Item = &'a str>) -> Filter {
        let names: Vec<String> = runs.into_iter().map(text_literal).collect();
        Filter { condition: Some(format!("run IN ({})", names.join(", "))) }
    }

    /// Of the cells of this filter those of these runs.
    pub fn within<'a>(&self, runs: impl IntoIterator<Item = &'a str>) -> Filter {
        let runs = Filter::runs(runs);
        Filter { condition: Some(format!("{} AND {}", self.text(), runs.text())) }
    }

    /// The cells that count now in the whole database, and what may be newer of them: of each attempt on a device the newest that was
    /// not measured, and the newest of each key.
    pub fn that_count() -> Filter {
        Filter::sql(&format!(
            "id IN ({} UNION
                SELECT arg_max(id, row(outcome <> 'skipped', coalesce(epoch_us(timestamp), -9223372036854775807), run, cell))
                FROM benchmark_results GROUP BY attempt, device_id, CASE WHEN outcome = 'measured' THEN key END)",
            super::migrations::LATEST_ID
        ))
    }

    pub fn sql(condition: &str) -> Filter {
        Filter { condition: Some(condition.into()) }
    }

    /// As it stands in a statement. What it ends with may be a comment.
    pub(super) fn text(&self) -> String {
        self.condition.as_ref().map_or("true".into(), |condition| format!("({condition}\n)"))
    }

    /// The same, once DuckDB has read it as one expression: it neither ends a statement nor begins another.
    pub(super) fn held(&self, connection: &Connection) -> Result<String, DatabaseError> {
        let Some(condition) = &self.condition else { return Ok(self.text()) };
        let alone = text_literal(&format!("SELECT {}", self.text()));
        let sql = format!("SELECT json_serialize_sql({alone})::VARCHAR");
        let parsed: String = connection.query_row(&sql, [], |row| row.get(0)).map_err(refused)?;
        let parsed: Value = serde_json::from_str(&parsed).unwrap_or_default();
        if let (Some(true), Some(why)) = (parsed["error"].as_bool(), parsed["error_message"].as_str())
            && parsed["error_type"] == "parser"
        {
            return Err(DatabaseError::Sql(format!("{why}, in the condition: {condition}")));
        }
        match is_one_expression(&parsed) {
            true => Ok(self.text()),
            false => Err(DatabaseError::Condition(condition.clone())),
        }
    }
}

/// Whether what was parsed selects one expression, from nowhere.
fn is_one_expression(parsed: &Value) -> bool {
    let [statement] = parsed["statements"].as_array().map_or(&[][..], Vec::as_slice) else { return false };
    let node = &statement["node"];
    let is_empty = |value: &Value| value.as_array().is_none_or(Vec::is_empty);
    let clauses = ["where_clause", "having", "qualify", "sample"];
    node["type"] == "SELECT_NODE"
        && node["select_list"].as_array().is_some_and(|list| list.len() == 1)
        && node["from_table"]["type"] == "EMPTY"
        && clauses.iter().all(|clause| node[clause].is_null())
        && is_empty(&node["group_expressions"])
        && is_empty(&node["modifiers"])
        && is_empty(&node["cte_map"]["map"])
}
