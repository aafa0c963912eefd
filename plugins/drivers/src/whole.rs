//! Whether a library's file is whole. The system's loader does not ask: it maps what is not there, and the process dies of it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// How many bytes are missing at the end of a library; `None` for a whole one, and for files of another format than ELF.
pub fn missing_bytes(path: &Path) -> Option<u64> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let mut header = [0; 64];
    file.read_exact(&mut header).ok()?;
    // 64 bits, little-endian: what all the vendors' libraries are.
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let long =
        |bytes: &[u8], at: usize| bytes[at..at + 8].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    let short = |at: usize| u64::from(u16::from_le_bytes([header[at], header[at + 1]]));
    // The table of segments: where, how long an entry, how many. Each entry has its offset at 8 and its size in the file at 32.
    let (start, entry, count) = (long(&header, 32), short(54), short(56));
    let mut table = vec![0; usize::try_from(entry * count).ok()?];
    file.seek(SeekFrom::Start(start)).ok()?;
    if file.read_exact(&mut table).is_err() {
        return Some(start.saturating_add(entry * count).saturating_sub(length).max(1));
    }
    let segments = table.chunks_exact(usize::try_from(entry).ok().filter(|entry| *entry >= 40)?);
    let end = segments.map(|segment| long(segment, 8).saturating_add(long(segment, 32))).max()?;
    end.checked_sub(length).filter(|missing| *missing > 0)
}

#[cfg(test)]
mod tests {
    use super::missing_bytes;
    use std::fs;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_library_that_is_cut_short_is_told_from_a_whole_one() {
        let folder = tempfile::tempdir().unwrap();
        let own = std::env::current_exe().unwrap();
        assert_eq!(missing_bytes(&own), None);
        let whole = fs::read(own).unwrap();
        let cut = folder.path().join("cut.so");
        for length in [64, 70, 4096, 65536] {
            fs::write(&cut, &whole[..length]).unwrap();
            assert!(missing_bytes(&cut).is_some(), "cut at {length}");
        }
    }

    #[test]
    fn what_is_no_such_library_is_not_judged() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("text.so");
        fs::write(&text, "a text").unwrap();
        assert_eq!(missing_bytes(&text), None);
        assert_eq!(missing_bytes(folder.path()), None);
        assert_eq!(missing_bytes(&folder.path().join("nowhere")), None);
    }
}
