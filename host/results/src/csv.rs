//! Frames as CSV files.

use polars::prelude::{ChunkApply, CsvWriter, DataFrame, IntoColumn, PolarsResult, SerWriter};
use skillbench_record::shown::csv;
use std::borrow::Cow;
use std::io::Write;

/// Writes a frame whose texts are text to a spreadsheet too.
///
/// # Errors
/// What cannot be written.
pub fn write(frame: &DataFrame, to: impl Write) -> PolarsResult<()> {
    let mut safe = frame.clone();
    for column in frame.columns() {
        if let Ok(texts) = column.str() {
            safe.with_column(texts.apply_values(|text| Cow::Owned(csv::value(text))).into_column())?;
        }
    }
    CsvWriter::new(to).finish(&mut safe)
}

#[cfg(test)]
mod tests {
    use super::write;
    use polars::prelude::*;

    #[test]
    fn texts_start_no_formula_and_numbers_and_what_is_not_known_stay() {
        let frame = df!("skill" => [Some("=cmd|x"), None, Some("a,\u{1b}b")], "ms" => [-1.5, 2.0, 3.0]).unwrap();
        let mut text = vec![];
        write(&frame, &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "skill,ms\n'=cmd|x,-1.5\n,2.0\n\"a,\\u001bb\",3.0\n");
    }
}
