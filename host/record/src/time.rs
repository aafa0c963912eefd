//! Moments in UTC, as text and as numbers.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The current time in UTC, as "2026-01-31T12:00:00Z".
pub fn now_utc() -> String {
    utc(since_epoch().as_secs() as i64)
}

/// How long it is since 1970-01-01.
pub fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A moment in seconds since 1970-01-01, as "2026-01-31T12:00:00Z".
pub fn utc(seconds: i64) -> String {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Civil date from days since 1970-01-01, with years that begin in March.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// The moment of "2026-01-31T12:00:00Z", in microseconds since 1970-01-01; `None`: it is no such text.
pub fn moment(text: &str) -> Option<i64> {
    let digits = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let marks = [(4, '-'), (7, '-'), (10, 'T'), (13, ':'), (16, ':')];
    if marks.iter().any(|(at, mark)| text.get(*at..*at + 1) != Some(mark.encode_utf8(&mut [0; 4]))) {
        return None;
    }
    let (year, month, day) = (digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
    let (hours, minutes, seconds) = (digits(11, 13)?, digits(14, 16)?, digits(17, 19)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    // Days from civil, with years that begin in March.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = y.div_euclid(400);
    let year_of_era = y.rem_euclid(400);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + (153 * m + 2) / 5 + day - 1;
    let days = era * 146_097 + day_of_era - 719_468;
    Some(((days * 86_400) + hours * 3600 + minutes * 60 + seconds) * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_as_it_was_written() {
        assert_eq!(moment("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(moment("2000-02-29T12:34:56Z"), Some(951_827_696_000_000));
        assert_eq!(moment("2026-11-21T22:53:20Z"), Some(1_795_301_600_000_000));
        for text in ["", "yesterday", "2026-13-01T00:00:00Z", "2026-11-21 22:53:20", "2026-11-21T22:53"] {
            assert_eq!(moment(text), None, "{text}");
        }
    }
}
