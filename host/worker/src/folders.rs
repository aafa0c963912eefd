//! The folders that a worker writes to: made before it starts, since what is not there cannot be granted, and gone after it, where
//! nothing was written.

use crate::sandbox::Reach;
use skillbench_record::scratch::{self, Folder};
use std::io;
use std::path::{Path, PathBuf};

pub(crate) struct Folders {
    /// Its own, for temporary files.
    pub scratch: Folder,
    /// Those that were not there before, the inner ones first.
    made: Vec<PathBuf>,
}

impl Folders {
    /// # Errors
    /// A folder cannot be made.
    pub fn make(reach: &Reach) -> io::Result<Folders> {
        let scratch = scratch::passable_folder()?;
        let mut folders = Folders { scratch, made: vec![] };
        for folder in &reach.writable {
            let missing: Vec<&Path> = folder.ancestors().take_while(|part| !part.exists()).collect();
            folders.made.extend(missing.into_iter().map(Path::to_path_buf));
            std::fs::create_dir_all(folder)?;
        }
        folders.made.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
        Ok(folders)
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        for folder in &self.made {
            // One that holds something stays.
            let _ = std::fs::remove_dir(folder);
        }
    }
}
