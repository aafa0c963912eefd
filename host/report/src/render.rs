//! One table in each of its forms.

use crate::Table;
use comfy_table::{CellAlignment, ContentArrangement, presets};
use minijinja::HtmlEscape;
use serde_json::{Map, Value};
use skillbench_record::shown::{self, csv, markdown};

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
            Format::Table => self.view(None).text(),
            Format::Markdown => self.markdown(),
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
                let field = |cell: &crate::Cell| match &cell.value {
                    Value::Null => String::new(),
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                let rows = self.rows.iter().map(|row| csv::row(row.iter().map(field)));
                std::iter::once(csv::row(&self.columns)).chain(rows).collect()
            }
        }
    }

    fn html(&self) -> String {
        let head: String = self
            .columns
            .iter()
            .map(|name| format!("<th scope=\"col\">{}</th>", HtmlEscape(&shown::line(name))))
            .collect();
        let cell = |cell: &crate::Cell| {
            let class = if cell.value.is_number() { " class=\"number\"" } else { "" };
            format!("<td{class}>{}</td>", HtmlEscape(&cell.shown))
        };
        let row = |row: &Vec<crate::Cell>| format!("<tr>{}</tr>\n", row.iter().map(cell).collect::<String>());
        let rows: String = self.rows.iter().map(row).collect();
        format!("<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n")
    }

    fn markdown(&self) -> String {
        let mut drawn = comfy_table::Table::new();
        let head = self.columns.iter().map(|name| markdown::cell(&shown::line(name)));
        drawn
            .load_style(presets::ASCII_MARKDOWN)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(head);
        for row in &self.rows {
            drawn.add_row(row.iter().map(|cell| {
                let right = cell.value.is_number();
                let text = comfy_table::Cell::new(markdown::cell(&cell.shown));
                text.set_alignment(if right { CellAlignment::Right } else { CellAlignment::Left })
            }));
        }
        format!("{drawn}\n")
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
            html.contains("&lt;script&gt;&quot;&amp;&quot;&lt;&#x2f;script&gt;") && html.contains("&lt;b&gt;"),
            "{html}"
        );
    }

    #[test]
    fn json_has_whole_numbers_and_null() {
        let rows: Value = serde_json::from_str(&table().render(Format::Json)).unwrap();
        assert_eq!(rows, serde_json::json!([{"name": "a, \"b\"", "ms": 1.23456}, {"name": "c", "ms": null}]));
    }

    #[test]
    fn a_text_is_nothing_but_text_in_every_form() {
        let mut table = Table::new(["=name\u{1b}[1m", "a|b"]);
        table.row(["\u{9b}2J\nerror: forged".into(), "\\<img onerror> | [x](javascript:y)".into()]);
        table.row(["=cmd|x".into(), Cell::number(-1.5)]);
        for format in [Format::Table, Format::Markdown, Format::Csv, Format::Html] {
            let text = table.render(format);
            assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{format:?}: {text:?}");
            assert!(!text.contains("\nerror:"), "{format:?}: {text}");
        }
        let markdown = table.render(Format::Markdown);
        assert_eq!(markdown.lines().count(), 4, "{markdown}");
        assert!(markdown.contains(r"| \\&lt;img onerror> \| [x\](javascript:y) |"), "{markdown}");
        let csv = table.render(Format::Csv);
        assert!(csv.starts_with("'=name\\u001b[1m,a|b\n") && csv.ends_with("\n'=cmd|x,-1.5\n"), "{csv}");
        let rows: Value = serde_json::from_str(&table.render(Format::Json)).unwrap();
        assert_eq!(rows[0]["=name\u{1b}[1m"], "\u{9b}2J\nerror: forged", "JSON has all of it");
    }

    #[test]
    fn people_see_three_digits_and_a_dash() {
        let text = table().render(Format::Markdown);
        assert!(text.contains("1.23 |") && text.contains("- "), "{text}");
    }
}
