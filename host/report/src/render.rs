//! One table in each of its forms.

use crate::Table;
use comfy_table::{CellAlignment, ContentArrangement, TableStyle, presets};
use serde_json::{Map, Value};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Table,
    Json,
    Csv,
    Markdown,
    /// A `<table>`, to be put into a page.
    Html,
}

impl Table {
    /// The table as text, with a newline at its end.
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Table => self.drawn(presets::UTF8_BORDERS_ONLY, ContentArrangement::Dynamic),
            Format::Markdown => self.drawn(presets::ASCII_MARKDOWN, ContentArrangement::Disabled),
            Format::Html => self.html(),
            Format::Json => {
                let object = |row: &Vec<crate::Cell>| {
                    let fields = self.columns.iter().cloned().zip(row.iter().map(|cell| cell.value.clone()));
                    Value::Object(fields.collect::<Map<_, _>>())
                };
                let rows: Vec<Value> = self.rows.iter().map(object).collect();
                format!("{:#}\n", Value::Array(rows))
            }
            Format::Csv => {
                let field = |value: &Value| match value {
                    Value::Null => String::new(),
                    Value::String(text) => quoted(text),
                    other => quoted(&other.to_string()),
                };
                let head = self.columns.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",");
                let line =
                    |row: &Vec<crate::Cell>| row.iter().map(|cell| field(&cell.value)).collect::<Vec<_>>().join(",");
                let lines = std::iter::once(head).chain(self.rows.iter().map(line));
                lines.map(|line| line + "\n").collect()
            }
        }
    }

    fn html(&self) -> String {
        let head: String =
            self.columns.iter().map(|name| format!("<th scope=\"col\">{}</th>", escaped(name))).collect();
        let cell = |cell: &crate::Cell| {
            let class = if cell.value.is_number() { " class=\"number\"" } else { "" };
            format!("<td{class}>{}</td>", escaped(&cell.shown))
        };
        let row = |row: &Vec<crate::Cell>| format!("<tr>{}</tr>\n", row.iter().map(cell).collect::<String>());
        let rows: String = self.rows.iter().map(row).collect();
        format!("<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n")
    }

    fn drawn(&self, style: TableStyle, arrangement: ContentArrangement) -> String {
        let mut drawn = comfy_table::Table::new();
        drawn.load_style(style).set_content_arrangement(arrangement).set_header(&self.columns);
        for row in &self.rows {
            drawn.add_row(row.iter().map(|cell| {
                let right = cell.value.is_number();
                let text = comfy_table::Cell::new(&cell.shown);
                text.set_alignment(if right { CellAlignment::Right } else { CellAlignment::Left })
            }));
        }
        format!("{drawn}\n")
    }
}

/// Text as it may stand in HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A field of a CSV file, by RFC 4180.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cell;

    fn table() -> Table {
        let mut table = Table::new(["name", "ms"]);
        table.row(["a, \"b\"".into(), Cell::number(1.23456)]);
        table.row(["c".into(), Cell::none()]);
        table
    }

    #[test]
    fn csv_quotes_what_needs_it_and_leaves_empty_what_was_not_measured() {
        assert_eq!(table().render(Format::Csv), "name,ms\n\"a, \"\"b\"\"\",1.23456\nc,\n");
    }

    #[test]
    fn html_lets_no_text_become_markup() {
        let mut table = Table::new(["<b>"]);
        table.row(["<script>\"&\"</script>".into()]);
        let html = table.render(Format::Html);
        assert!(
            html.contains("&lt;script&gt;&quot;&amp;&quot;&lt;/script&gt;") && html.contains("&lt;b&gt;"),
            "{html}"
        );
    }

    #[test]
    fn json_has_whole_numbers_and_null() {
        let rows: Value = serde_json::from_str(&table().render(Format::Json)).unwrap();
        assert_eq!(rows, serde_json::json!([{"name": "a, \"b\"", "ms": 1.23456}, {"name": "c", "ms": null}]));
    }

    #[test]
    fn people_see_three_digits_and_a_dash() {
        let text = table().render(Format::Markdown);
        assert!(text.contains("1.23 |") && text.contains("- "), "{text}");
    }
}
