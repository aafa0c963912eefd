//! What a machine has already of what plugins need: libraries in Python's environments, as PyTorch brings them, and in the
//! system's folders.

use crate::registry::{OnMachine, Package, Source};
use glob::Pattern;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A folder of the machine that serves in a package's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnThisMachine {
    pub folder: PathBuf,
    /// Of the Python package that it belongs to; `None` for the system's own.
    pub version: Option<String>,
    /// The folder holds the package as pip lays it out: paths within it are those that the registry has.
    pub whole: bool,
}

/// Where this machine has what the package brings: the first folder with the file that counts.
pub fn on_machine(package: &Package) -> Option<OnThisMachine> {
    static ENVIRONMENTS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    let own = own_environment().and_then(|environment| in_own_environment(package, environment));
    if own.is_some() {
        return own;
    }
    let environments = ENVIRONMENTS.get_or_init(|| environments(&|name| std::env::var_os(name)));
    let listed = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let listed: Vec<PathBuf> = std::env::split_paths(&listed).filter(|folder| folder.is_absolute()).collect();
    find(package, package.file()?.machine.as_ref()?, environments, &listed)
}

/// The folder with the packages of the Python environment that this program was installed into; `None` where it came otherwise.
fn own_environment() -> Option<&'static Path> {
    static OWN: OnceLock<Option<PathBuf>> = OnceLock::new();
    OWN.get_or_init(|| environment_of(&std::env::current_exe().ok()?)).as_deref()
}

fn environment_of(program: &Path) -> Option<PathBuf> {
    let is_environment = |folder: &&Path| folder.ends_with("site-packages") || folder.ends_with("dist-packages");
    program.ancestors().find(is_environment).map(Path::to_path_buf)
}

/// A package that pip installed beside this program, in the very version that the registry pins.
fn in_own_environment(package: &Package, environment: &Path) -> Option<OnThisMachine> {
    let Source::PyPi(name) = &package.source else { return None };
    let version = version(environment, name).filter(|version| *version == package.version)?;
    let paths = &package.file()?.paths;
    let whole = !paths.is_empty() && paths.values().all(|path| environment.join(path).exists());
    whole.then(|| OnThisMachine { folder: environment.into(), version: Some(version), whole })
}

fn find(package: &Package, wanted: &OnMachine, environments: &[PathBuf], listed: &[PathBuf]) -> Option<OnThisMachine> {
    let has = |folder: &PathBuf| folder.join(&wanted.file).is_file();
    let (absolute, relative): (Vec<&str>, Vec<&str>) =
        wanted.folders.iter().map(String::as_str).partition(|folder| Path::new(folder).is_absolute());
    // By the package's own record too: that of another version of CUDA brings libraries of the same name.
    let in_environment = environments.iter().find_map(|environment| {
        let version = Some(version(environment, package.source.name())?);
        let folder = relative.iter().flat_map(|folder| below(environment, folder)).find(has)?;
        Some(OnThisMachine { folder, version, whole: false })
    });
    let of_system = || {
        let folders = absolute.iter().flat_map(|folder| matching(folder));
        let folder = listed.iter().cloned().chain(folders).find(has)?;
        Some(OnThisMachine { folder, version: None, whole: false })
    };
    in_environment.or_else(of_system)
}

/// The version that a Python environment has of a package, by the name of its record.
fn version(environment: &Path, package: &str) -> Option<String> {
    let name = package.to_lowercase().replace(['-', '.'], "_");
    let record = below(environment, &format!("{name}-*.dist-info")).into_iter().next()?;
    let record = record.file_name()?.to_str()?;
    Some(record.strip_prefix(&*name)?.strip_prefix('-')?.strip_suffix(".dist-info")?.to_string())
}

/// The folders with the packages of the Python environments that a user of this shell would use, the nearest first. No
/// interpreter is started: where an environment lies tells where its packages are.
fn environments(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let paths = |name: &str| -> Vec<PathBuf> {
        let list = variable(name).unwrap_or_default();
        std::env::split_paths(&list).filter(|path| path.is_absolute()).collect()
    };
    let mut folders = paths("PYTHONPATH");
    let mut prefixes = [paths("VIRTUAL_ENV"), paths("CONDA_PREFIX")].concat();
    for bin in paths("PATH") {
        for interpreter in ["python3", "python"] {
            prefixes.extend(prefixes_of(bin.join(interpreter)));
        }
        if bin.ends_with("shims") {
            // pyenv's: scripts that start the interpreter of one of these.
            prefixes.extend(bin.parent().into_iter().flat_map(|root| below(root, "versions/*")));
        }
    }
    prefixes.extend(paths("HOME").into_iter().map(|home| home.join(".local")));
    prefixes.extend(["/usr/local".into(), "/usr".into()]);
    for prefix in prefixes {
        for packages in ["lib/python3*/site-packages", "lib64/python3*/site-packages", "lib/python3*/dist-packages"] {
            folders.extend(below(&prefix, packages));
        }
    }
    let mut seen = std::collections::HashSet::new();
    folders.retain(|folder| seen.insert(folder.clone()));
    folders
}

/// Where an interpreter is installed, and where each file is that it is a link to: a virtual environment's is a link to the
/// one it was made with.
fn prefixes_of(mut interpreter: PathBuf) -> Vec<PathBuf> {
    const MOST_LINKS: usize = 16;
    let mut prefixes = vec![];
    for _ in 0..MOST_LINKS {
        if !interpreter.exists() {
            break;
        }
        prefixes.extend(interpreter.parent().and_then(Path::parent).map(Path::to_path_buf));
        let Ok(target) = std::fs::read_link(&interpreter) else { break };
        interpreter = interpreter.parent().unwrap_or(Path::new("/")).join(target);
    }
    prefixes
}

/// What matches a pattern below a folder, whose own name is no pattern.
fn below(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    folder.to_str().map(|folder| matching(&format!("{}/{pattern}", Pattern::escape(folder)))).unwrap_or_default()
}

fn matching(pattern: &str) -> Vec<PathBuf> {
    glob::glob(pattern).map(|found| found.flatten().collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Hash, Origin, PackageFile};
    use std::collections::BTreeMap;

    fn cudnn() -> Package {
        Package {
            name: "nvidia-cudnn".into(),
            source: Source::PyPi("nvidia-cudnn-cu13".into()),
            version: "9.24.1.1".into(),
            files: BTreeMap::new(),
            origin: Origin { file: PathBuf::new(), line: 1 },
        }
    }

    fn wanted(folders: &[&str]) -> OnMachine {
        OnMachine { file: "libcudnn.so.9".into(), folders: folders.iter().map(ToString::to_string).collect() }
    }

    fn file(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn libraries_of_a_virtual_environment_are_found_through_its_interpreter_with_their_version() {
        let folder = tempfile::tempdir().unwrap();
        let venv = folder.path().join("a [b] *");
        let packages = venv.join("lib/python3.12/site-packages");
        file(&packages.join("nvidia/cudnn/lib/libcudnn.so.9"));
        file(&packages.join("nvidia_cudnn_cu13-9.19.0.56.dist-info/METADATA"));
        file(&venv.join("bin/python3"));
        let bin = folder.path().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::os::unix::fs::symlink(venv.join("bin/python3"), bin.join("python3")).unwrap();
        let path = |name: &str| (name == "PATH").then(|| bin.clone().into_os_string());
        let environments = environments(&path);
        let found = find(&cudnn(), &wanted(&["nvidia/*/lib"]), &environments, &[]).unwrap();
        assert_eq!(found.folder, packages.join("nvidia/cudnn/lib"));
        assert_eq!(found.version.as_deref(), Some("9.19.0.56"));

        let records = packages.join("nvidia_cudnn_cu13-9.19.0.56.dist-info");
        std::fs::rename(records, packages.join("nvidia_cudnn_cu12-9.10.2.21.dist-info")).unwrap();
        assert_eq!(find(&cudnn(), &wanted(&["nvidia/*/lib"]), &environments, &[]), None, "that is for another CUDA");
    }

    #[test]
    fn packages_of_the_environment_that_the_program_lies_in_count_in_the_pinned_version_alone() {
        let folder = tempfile::tempdir().unwrap();
        let packages = folder.path().join("lib/python3.12/site-packages");
        assert_eq!(environment_of(&packages.join("skillbench/lib/host")).as_deref(), Some(&*packages));
        assert_eq!(environment_of(Path::new("/usr/lib/skillbench/host")), None);
        let mut package = cudnn();
        let paths = BTreeMap::from([("library".to_string(), "nvidia/cudnn/lib/libcudnn.so.9".to_string())]);
        let hash = Hash::Integrity(String::new());
        let file_of = PackageFile { tag: String::new(), hash, keep: None, unpack: vec![], paths, machine: None };
        package.files.insert(crate::registry::platform(), file_of);
        file(&packages.join("nvidia/cudnn/lib/libcudnn.so.9"));
        file(&packages.join("nvidia_cudnn_cu13-9.24.1.1.dist-info/METADATA"));
        let found = in_own_environment(&package, &packages).unwrap();
        assert_eq!((found.folder, found.whole), (packages.clone(), true));
        package.version = "9.24.2.0".into();
        assert_eq!(in_own_environment(&package, &packages), None);
    }

    #[test]
    fn a_folder_without_the_file_does_not_count_and_the_systems_come_last() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("cuda-13.0/lib64"), folder.path().join("cuda-13.1/lib64"));
        file(&old.join("libcudnn.so.8"));
        file(&new.join("libcudnn.so.9"));
        let pattern = format!("{}/cuda-13*/lib64", folder.path().display());
        let found = find(&cudnn(), &wanted(&["nvidia/*/lib", &pattern]), &[], &[]);
        assert_eq!(found, Some(OnThisMachine { folder: new, version: None, whole: false }));
        assert_eq!(find(&cudnn(), &wanted(&["nvidia/*/lib"]), &[], &[]), None);
    }
}
