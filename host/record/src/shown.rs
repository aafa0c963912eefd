//! Figures as people read them.

/// Three significant digits, and whole numbers in full: "0.431", "12.3", "1234".
pub fn number(number: f64) -> String {
    let digits = match number.abs() {
        0.0 => 0,
        size => (2.0 - size.log10().floor()).clamp(0.0, 12.0) as usize,
    };
    format!("{number:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn three_digits_are_shown_and_whole_numbers_in_full() {
        assert_eq!([0.0, 0.0123456, 0.4309, 12.34, 1234.5].map(number), ["0", "0.0123", "0.431", "12.3", "1234"]);
    }
}
