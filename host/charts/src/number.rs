//! How numbers are written: as many digits as a reader can use.

use crate::estimate::Estimate;
use crate::words::words;

/// A value in three digits, more for large ones: `0.0123`, `1.23`, `12.3`, `123`, `12,345`, `1.2e9`.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return words().not_measured.clone();
    }
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e9).contains(&size) {
        return scientific(value);
    }
    let decimals = (2 - size.log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{value:.decimals$}");
    group(&trim(&text))
}

fn scientific(value: f64) -> String {
    let text = format!("{value:.2e}");
    match text.split_once('e') {
        Some((digits, power)) => format!("{}e{power}", trim(digits)),
        None => text,
    }
}

fn trim(text: &str) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text.to_owned() }
}

fn group(text: &str) -> String {
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("−", digits));
    let mut out = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && digits.len() > 4 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// The labels of ticks: all with the decimals that the closest two need to differ.
pub(crate) fn tick_labels(ticks: &[f64]) -> Vec<String> {
    let largest = ticks.iter().fold(0.0_f64, |most, tick| most.max(tick.abs()));
    let step = ticks.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(f64::INFINITY, f64::min);
    let smallest = if step.is_finite() && step > 0.0 { step } else { largest };
    if !(1e-6..1e9).contains(&largest) || smallest < 1e-6 {
        return ticks.iter().map(|tick| if *tick == 0.0 { "0".to_owned() } else { scientific(*tick) }).collect();
    }
    // 0.25 needs two decimals though its size speaks of one.
    let mut decimals = (-smallest.log10().floor()).max(0.0) as usize;
    let scale = 10f64.powi(decimals as i32);
    if (smallest * scale - (smallest * scale).round()).abs() > 1e-6 {
        decimals += 1;
    }
    ticks.iter().map(|tick| group(&format!("{:.decimals$}", tick + 0.0))).collect()
}

/// A value with its unit.
pub(crate) fn with_unit(value: f64, unit: &str) -> String {
    if unit.is_empty() { number(value) } else { format!("{} {unit}", number(value)) }
}

/// A value with its unit and interval, or that there is none.
pub(crate) fn in_words(estimate: Estimate, unit: &str) -> String {
    in_words_with(estimate, unit, &words().interval)
}

/// The same, with another name for the interval.
pub(crate) fn in_words_with(estimate: Estimate, unit: &str, interval: &str) -> String {
    let Some(value) = estimate.value() else {
        return words().not_measured.clone();
    };
    match estimate.interval() {
        Some((low, high)) => {
            format!("{} ({} {} {} {})", with_unit(value, unit), interval, number(low), words().to, number(high))
        }
        None => with_unit(value, unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_digits_as_a_reader_can_use() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (0.012_345, "0.0123"),
            (1.0, "1"),
            (1.234_5, "1.23"),
            (12.345, "12.3"),
            (123.45, "123"),
            (1234.5, "1234"),
            (12_345.6, "12,346"),
            (1_234_567.0, "1,234,567"),
            (-42.0, "−42"),
            (1.5e12, "1.5e12"),
            (2e-7, "2e-7"),
            (f64::NAN, "not measured"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn labels_of_ticks_have_the_decimals_they_need_to_differ() {
        assert_eq!(tick_labels(&[0.0, 0.25, 0.5]), ["0.00", "0.25", "0.50"]);
        assert_eq!(tick_labels(&[0.0, 0.5, 1.0]), ["0.0", "0.5", "1.0"]);
        assert_eq!(tick_labels(&[-5000.0, 0.0, 10_000.0]), ["−5000", "0", "10,000"]);
        assert_eq!(tick_labels(&[0.0, 1e12]), ["0", "1e12"]);
        assert_eq!(tick_labels(&[]), [""; 0]);
    }

    #[test]
    fn an_interval_is_told_only_with_a_value_and_in_the_right_order() {
        assert_eq!(in_words(Estimate::within(2.0, 1.5, 2.5), "ms"), "2 ms (95% interval 1.5 to 2.5)");
        assert_eq!(in_words(Estimate::within(2.0, 2.5, 1.5), ""), "2");
        assert_eq!(in_words(Estimate { value: None, low: Some(1.0), high: Some(2.0) }, "ms"), "not measured");
    }
}
