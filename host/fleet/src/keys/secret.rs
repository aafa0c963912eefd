//! Files that nobody else can read.

use std::io::{self, Write};
use std::path::Path;

/// Writes a file whole, which its owner alone can read.
pub(super) fn write_secret(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    // Made for its owner alone, as all temporary files are.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}
