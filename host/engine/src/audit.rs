//! What the inputs of timed runs are made from: the run's seed, the benchmark, and a number that is this machine's alone, so that no
//! plugin can bring the answers with it.

use skillbench_record::hash::sha256_text;
use skillbench_record::paths;
use skillbench_record::scratch::Scratch;
use std::path::Path;
use std::sync::OnceLock;

/// The seed of a cell's timed inputs. It stays the same on a machine, so that reference outputs can be kept.
pub fn seed(seed: u64, benchmark: &str) -> u64 {
    static SALT: OnceLock<String> = OnceLock::new();
    let salt = SALT.get_or_init(|| salt(&paths::cache().join("references").join("salt")));
    let hash = sha256_text(&format!("{salt}|{seed}|{benchmark}"));
    u64::from_str_radix(&hash[..16], 16).unwrap_or(seed)
}

/// The machine's own number, made where there is none. One that cannot be kept lasts as long as the process.
fn salt(file: &Path) -> String {
    if let Ok(kept) = std::fs::read_to_string(file) {
        return kept;
    }
    let fresh = format!("{:032x}", fastrand::Rng::new().u128(..));
    let keep = || {
        let scratch = Scratch::in_folder(file.parent().unwrap_or(Path::new(".")))?;
        let new = scratch.path().join("salt");
        std::fs::write(&new, &fresh)?;
        // Another run may have kept one meanwhile: a second name is refused where there is one, and a file that is moved is not.
        match std::fs::hard_link(&new, file) {
            // A file system without second names.
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => std::fs::rename(&new, file),
            linked => linked,
        }
    };
    match keep() {
        Ok(()) => fresh,
        Err(_) => std::fs::read_to_string(file).unwrap_or(fresh),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_keeps_its_number_and_another_has_another() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("a/salt"), folder.path().join("b/salt"));
        assert_eq!(salt(&one), salt(&one));
        assert_ne!(salt(&one), salt(&other));
    }
}
