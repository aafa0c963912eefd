//! Versions of the C library, glibc: which one a library needs.

/// The version of glibc that a library asks for: the highest of the names `GLIBC_2.28` that its symbols carry. `None` where it
/// has no such name.
pub(crate) fn needed(library: &[u8]) -> Option<String> {
    const NAME: &[u8] = b"GLIBC_";
    let found = library.windows(NAME.len()).enumerate().filter(|(_, window)| *window == NAME);
    let versions = found.filter_map(|(at, _)| {
        let rest = library.get(at + NAME.len()..)?;
        let end = rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
        // A name ends with a zero; text that only looks like one does not count.
        (rest[end] == 0).then_some(())?;
        parse(std::str::from_utf8(&rest[..end]).ok()?)
    });
    versions.max().map(|(major, minor)| format!("{major}.{minor}"))
}

/// "2.28", or "2.2.5" of which the first two numbers count.
pub(crate) fn parse(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(str::parse::<u32>);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_name_of_a_version_counts_and_text_does_not() {
        let library = b"\0GLIBC_2.2.5\0GLIBC_2.28\0GLIBC_2.9\0needs GLIBC_2.99 or so\0GLIBC_PRIVATE\0";
        assert_eq!(needed(library).as_deref(), Some("2.28"));
        assert_eq!(needed(b"nothing"), None);
    }
}
