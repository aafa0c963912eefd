//! The files that a cell leaves in the folder of its run, beside its line in the journal: what its benchmark attached, and the trace of its
//! operators.

use std::path::{Path, PathBuf};

/// Where the attachments of a cell are.
pub fn attachments(run: &Path, cell: usize) -> PathBuf {
    run.join("attachments").join(cell.to_string())
}

/// Where the trace of a cell's operators is.
pub fn trace(run: &Path, cell: usize) -> PathBuf {
    run.join("profiles").join(format!("{cell}.trace.json"))
}

/// What the trace is called among the files of a cell; attachments have their own plain names.
const TRACE: &str = "operators/trace.json";

/// The files of a cell that are there, each with its name. Links are none of them: a plugin may have made one.
pub fn of(run: &Path, cell: usize) -> Vec<(String, PathBuf)> {
    let is_file = |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|data| data.is_file());
    let entries = std::fs::read_dir(attachments(run, cell)).into_iter().flatten().flatten();
    let attached = entries.filter_map(|entry| Some((entry.file_name().to_str()?.to_string(), entry.path())));
    let trace = (TRACE.to_string(), trace(run, cell));
    let mut files: Vec<_> = attached.chain([trace]).filter(|(_, path)| is_file(path)).collect();
    files.sort();
    files
}

/// Where a file of this name belongs; `None`: no cell has one of that name.
pub fn place(run: &Path, cell: usize, name: &str) -> Option<PathBuf> {
    let is_plain = !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', '\0', ':']);
    match name {
        TRACE => Some(trace(run, cell)),
        name => is_plain.then(|| attachments(run, cell).join(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_cell_left_is_found_and_has_its_place_in_another_run() {
        let (run, other) = (tempfile::tempdir().unwrap(), Path::new("other"));
        std::fs::create_dir_all(attachments(run.path(), 3)).unwrap();
        std::fs::create_dir_all(run.path().join("profiles")).unwrap();
        std::fs::write(attachments(run.path(), 3).join("trace.csv"), "1").unwrap();
        std::fs::write(trace(run.path(), 3), "{}").unwrap();
        let names: Vec<String> = of(run.path(), 3).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["operators/trace.json", "trace.csv"]);
        assert_eq!(of(run.path(), 4), []);
        assert_eq!(place(other, 7, &names[0]), Some(trace(other, 7)));
        assert_eq!(place(other, 7, "trace.csv"), Some("other/attachments/7/trace.csv".into()));
    }

    #[test]
    fn a_name_never_leaves_the_folder_of_its_cell() {
        for name in ["", ".", "..", "../x", "/etc/passwd", "a/b", "a\\b", "C:x", "a\0"] {
            assert_eq!(place(Path::new("run"), 0, name), None, "{name:?}");
        }
    }
}
