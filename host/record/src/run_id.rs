//! The id of a run as the name of a file. Folders and exports are called by it, and rows and documents of others have any text there.

use crate::time::utc;
use std::time::Duration;

/// The longest name that leaves room for an ending in any file system.
const LONGEST: usize = 128;

/// Why a text cannot be the id of a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' cannot be the id of a run, which names a file: up to {most} letters, digits, '-', '_' and '.' can, with no '.' or '-' in front",
    most = LONGEST
)]
pub struct NoRunId(String);

/// The id of a run that began so long after 1970-01-01: "20260131-120000-8000b2c3", whose last part is the fraction of the second (12 bits) and a number
/// by chance (20 bits). Ids of one machine are so in the order in which its runs began; containers may have the moment, the process id and even
/// the database in common.
pub fn of(began: Duration, chance: u32) -> String {
    let stamp: String = utc(began.as_secs() as i64).chars().filter(char::is_ascii_digit).collect();
    let (day, time) = stamp.split_at(8.min(stamp.len()));
    let fraction = (u64::from(began.subsec_nanos()) << 12) / 1_000_000_000;
    format!("{day}-{time}-{fraction:03x}{:05x}", chance & 0xf_ffff)
}

/// # Errors
/// The text would be another place as the name of a file, or none.
pub fn check(id: &str) -> Result<(), NoRunId> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let begins = id.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    match begins && id.len() <= LONGEST && id.chars().all(plain) {
        true => Ok(()),
        // As the error shows it: a text of others may have control characters, and any length.
        false => Err(NoRunId(id.chars().take(LONGEST).flat_map(char::escape_debug).collect())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Duration = Duration::from_secs(1_769_860_800);

    #[test]
    fn an_id_begins_with_the_second_in_which_its_run_began() {
        assert_eq!(of(NOON, 0x0a1b_2c3d), "20260131-120000-000b2c3d");
    }

    #[test]
    fn ids_are_in_the_order_in_which_runs_began_within_a_second_too() {
        let at = |nanos| NOON + Duration::from_nanos(nanos);
        let ids = [of(at(0), u32::MAX), of(at(300_000), 7), of(at(999_999_999), 3), of(at(1_000_000_000), 0)];
        assert!(ids.is_sorted(), "{ids:?}");
        assert_eq!(ids[2], "20260131-120000-fff00003");
    }

    #[test]
    fn what_is_one_name_of_a_file_can_be_an_id() {
        for id in ["20261123-101500-0a1b2c3d", "one", "_x", "a.b"] {
            assert_eq!(check(id), Ok(()), "{id}");
        }
    }

    #[test]
    fn what_is_another_place_or_no_name_is_refused() {
        let long = "a".repeat(LONGEST + 1);
        for id in
            ["", ".", "..", "../../x", "/etc/x", "a/b", "a\\b", "C:x", "-rf", ".hidden", "a\nb", "a\0b", "ä", &long]
        {
            assert!(check(id).is_err(), "{id}");
        }
    }

    #[test]
    fn the_refusal_is_one_line_whatever_the_text_is() {
        let told = check("a\n\u{1b}[2Kb").unwrap_err().to_string();
        assert!(!told.contains(char::is_control), "{told:?}");
    }
}
