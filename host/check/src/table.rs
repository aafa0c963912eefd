//! Columns of text.

/// Rows under their heads, each column as wide as its widest cell but the last, which goes on to the end of the line.
pub fn table<const N: usize>(heads: [&str; N], rows: &[[String; N]]) -> String {
    let width = |text: &str| text.chars().count();
    let widths: [usize; N] = std::array::from_fn(|column| {
        rows.iter().map(|row| width(&row[column])).chain([width(heads[column])]).max().unwrap_or(0)
    });
    let line = |cells: &[String; N]| {
        let padded = cells.iter().zip(widths).map(|(cell, most)| format!("{cell}{}", " ".repeat(most - width(cell))));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
    };
    let heads = heads.map(String::from);
    std::iter::once(&heads).chain(rows).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other() {
        let rows = [["1".to_string(), "é".into()], ["200".to_string(), "b".into()]];
        assert_eq!(table(["rule", "id"], &rows), "rule  id\n1     é\n200   b\n");
    }
}
