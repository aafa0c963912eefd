//! Which folders plugins may come from without being named: those that nobody else can write to.

use std::path::Path;

/// What a look at a folder's owners and permissions found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    Good,
    /// It counts, and this should be known.
    Doubtful(String),
    /// It does not count, for this reason.
    Refused(String),
}

/// Looks at a folder, or a file in one, and at every folder above it: whoever can rename one of them decides what lies below.
/// What is not there cannot be refused.
///
/// `own`: it has to belong to the user who runs this, or to root.
pub(super) fn look(path: &Path, own: bool) -> Trust {
    let Ok(path) = std::fs::canonicalize(path) else { return Trust::Good };
    let mut doubt = Trust::Good;
    let holder = if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(&path) };
    for part in path.ancestors() {
        match look_at(part, own, part == holder) {
            Trust::Good => {}
            refused @ Trust::Refused(_) => return refused,
            // Folders above it are often shared on purpose; the one that holds the plugins matters.
            doubtful if part == path || part == holder => doubt = doubtful,
            Trust::Doubtful(_) => {}
        }
    }
    doubt
}

#[cfg(unix)]
fn look_at(path: &Path, own: bool, holds: bool) -> Trust {
    use std::os::unix::fs::MetadataExt;
    const STICKY: u32 = 0o1000;
    let Ok(data) = std::fs::metadata(path) else { return Trust::Good };
    let shown = path.display();
    let user = rustix::process::geteuid().as_raw();
    // In a sticky folder nobody renames what others have there, but anybody adds something.
    if data.mode() & 0o002 != 0 && (data.mode() & STICKY == 0 || holds) {
        return Trust::Refused(format!("everybody may write to {shown} (chmod o-w {shown})"));
    }
    if own && ![0, user].contains(&data.uid()) {
        return Trust::Refused(format!("{shown} belongs to another user (number {}, this is {user})", data.uid()));
    }
    if data.mode() & 0o020 != 0 && data.gid() != 0 {
        return Trust::Doubtful(format!("everybody of group {} may write to {shown}", data.gid()));
    }
    Trust::Good
}

#[cfg(not(unix))]
fn look_at(_: &Path, _: bool, _: bool) -> Trust {
    Trust::Good
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs::{Permissions, create_dir_all, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    fn folder(mode: u32) -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("open").join("plugins");
        create_dir_all(&deep).unwrap();
        set_permissions(root.path().join("open"), Permissions::from_mode(mode)).unwrap();
        (root, deep)
    }

    #[test]
    fn what_lies_below_a_folder_that_everybody_may_write_to_does_not_count() {
        let (_root, deep) = folder(0o777);
        assert!(matches!(look(&deep, true), Trust::Refused(why) if why.contains("everybody may write to")));
    }

    #[test]
    fn a_sticky_folder_protects_what_its_users_have_there() {
        let (_root, deep) = folder(0o1777);
        assert_eq!(look(&deep, true), Trust::Good);
    }

    #[test]
    fn a_sticky_folder_that_holds_plugins_itself_does_not_count() {
        let (_root, deep) = folder(0o755);
        set_permissions(&deep, Permissions::from_mode(0o1777)).unwrap();
        assert!(matches!(look(&deep, false), Trust::Refused(_)));
    }

    #[test]
    fn a_folder_of_ones_own_counts_and_one_that_is_not_there_cannot_be_refused() {
        let (_root, deep) = folder(0o755);
        assert_eq!(look(&deep, true), Trust::Good);
        assert_eq!(look(Path::new("/not/there"), true), Trust::Good);
    }

    #[test]
    fn a_folder_that_a_group_may_write_to_counts_with_a_doubt() {
        let (_root, deep) = folder(0o755);
        set_permissions(&deep, Permissions::from_mode(0o775)).unwrap();
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&deep, None, Some(12_345)).unwrap();
        }
        assert!(matches!(look(&deep, true), Trust::Doubtful(_)));
    }
}
