//! Who a browser runs as: whoever runs the worker, and for root somebody with fewer rights.

use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::process::Command;

/// Another user than the worker's.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    pub name: String,
    uid: u32,
    gid: u32,
}

/// What a browser is started as.
pub(crate) enum RunAs {
    /// The worker's own user.
    Own,
    Other(Account),
    /// Root itself, and why.
    Root(String),
}

impl RunAs {
    /// The user of this name in place of root. Whoever is not root cannot be another.
    #[cfg(unix)]
    pub fn choose(user: &str) -> RunAs {
        if !nix::unistd::geteuid().is_root() {
            return RunAs::Own;
        }
        match nix::unistd::User::from_name(user) {
            Ok(Some(found)) if found.uid.is_root() => RunAs::Root(format!("browser_user is {user}")),
            Ok(Some(found)) => {
                let gid = graphics_group().unwrap_or(found.gid.as_raw());
                RunAs::Other(Account { name: found.name, uid: found.uid.as_raw(), gid })
            }
            Ok(None) => RunAs::Root(format!("there is no user '{user}': see the option `browser_user`")),
            Err(error) => RunAs::Root(format!("the user '{user}' cannot be looked up ({error})")),
        }
    }

    #[cfg(not(unix))]
    pub fn choose(_user: &str) -> RunAs {
        RunAs::Own
    }
}

/// The group that a graphics device lets in, without which only a rasterizer is found. Root's own would let at more.
#[cfg(unix)]
fn graphics_group() -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let nodes = std::fs::read_dir("/dev/dri").into_iter().flatten().flatten();
    let nodes = nodes.filter(|node| node.file_name().to_string_lossy().starts_with("renderD"));
    let groups = nodes.filter_map(|node| node.metadata().ok()).map(|found| found.gid());
    groups.filter(|group| *group != 0).min()
}

#[cfg(unix)]
impl Account {
    /// Has a command run as this user, in one group and none of root's.
    pub fn apply(&self, command: &mut Command) {
        use std::os::unix::process::CommandExt;
        command.uid(self.uid).gid(self.gid);
    }

    /// Gives this user a folder or a file of ours.
    pub fn own(&self, path: &Path) -> io::Result<()> {
        std::os::unix::fs::chown(path, Some(self.uid), Some(self.gid))
    }

    /// Lets this user read a folder of ours, and nobody else.
    pub fn share(&self, folder: &Path) -> io::Result<()> {
        std::os::unix::fs::chown(folder, None, Some(self.gid))?;
        std::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o750))
    }

    /// Whether modes let this user read a file and pass through each folder on the way to it. Lists of access are not looked at:
    /// where they say otherwise, the browser's own start shows it.
    pub fn reaches(&self, path: &Path) -> bool {
        let allowed = |found: io::Result<Metadata>, bits: u32| found.is_ok_and(|found| self.allowed(&found, bits));
        let Ok(path) = path.canonicalize() else { return false };
        allowed(path.metadata(), 0o5) && path.ancestors().skip(1).all(|folder| allowed(folder.metadata(), 0o1))
    }

    /// Whether modes let this user pass through a folder and each one on the way to it.
    pub fn enters(&self, folder: &Path) -> bool {
        let Ok(folder) = folder.canonicalize() else { return false };
        folder.ancestors().all(|part| part.metadata().is_ok_and(|found| self.allowed(&found, 0o1)))
    }

    fn allowed(&self, found: &Metadata, bits: u32) -> bool {
        use std::os::unix::fs::MetadataExt;
        let shift = match () {
            () if found.uid() == self.uid => 6,
            () if found.gid() == self.gid => 3,
            () => 0,
        };
        found.mode() >> shift & bits == bits
    }
}

#[cfg(not(unix))]
impl Account {
    pub fn apply(&self, _: &mut Command) {}

    pub fn own(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    pub fn share(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    pub fn reaches(&self, _: &Path) -> bool {
        true
    }

    pub fn enters(&self, _: &Path) -> bool {
        true
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::Account;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_program_in_a_private_folder_is_out_of_reach_for_another_user() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        let program = folder.path().join("program");
        fs::write(&program, "").unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        let nobody = Account { name: "nobody".into(), uid: u32::MAX - 7, gid: u32::MAX - 7 };
        assert!(!nobody.reaches(&program) && nobody.reaches("/bin/sh".as_ref()));
    }

    #[test]
    fn a_folder_that_others_pass_through_and_cannot_list_is_entered() {
        let folder = tempfile::tempdir().unwrap();
        let nobody = Account { name: "nobody".into(), uid: u32::MAX - 7, gid: u32::MAX - 7 };
        fs::set_permissions(folder.path(), Permissions::from_mode(0o711)).unwrap();
        assert!(nobody.enters(folder.path()) && !nobody.reaches(folder.path()));
        fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        assert!(!nobody.enters(folder.path()));
    }
}
