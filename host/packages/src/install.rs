//! Putting a staged plugin package in its place, registering it, and taking it back.
//!
//! A version is there in full or not at all, several stand side by side, and one of them is registered.

use crate::error::{PackageError, io};
use crate::home::Home;
use crate::manifest::Manifest;
use crate::receipt::{RECEIPT, Receipt};
use crate::stage::{Staged, contents, manifest_in};
use crate::version::order;
use skillbench_record::scratch::write_whole;
use std::cmp::Ordering;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    pub folder: PathBuf,
    pub drop_in: PathBuf,
    /// It was there already, with the same contents.
    pub already: bool,
    /// The version that was registered before.
    pub before: Option<String>,
    /// It is registered now; else a newer version stays so.
    pub in_use: bool,
}

impl Staged {
    /// Puts it where plugin packages are, and registers it: also in the place of a newer version where `older` asks for that.
    ///
    /// # Errors
    /// The version is there with other contents, the id is registered for something else, or a disk fails: then nothing is left of it.
    pub fn install(self, home: &Home, older: bool) -> Result<Installed, PackageError> {
        let (id, version) = (&self.manifest.id, &self.manifest.version);
        let before = in_use(home, id)?;
        let folder = home.version(id, version);
        self.receipt.write(&self.unpacked)?;
        let already = self.place(&folder)?;
        let is_older = |before: &Receipt| order(version, &before.version) == Ordering::Less;
        let in_use = older || !before.as_ref().is_some_and(is_older);
        let drop_in = home.drop_in(id);
        if in_use {
            let text = entry(&self.manifest, &folder.join(&self.library.file), &self.library.sha256, &drop_in)?;
            let written = write_whole(&drop_in, |out| out.write_all(text.as_bytes())).map_err(io(&drop_in));
            if let Err(error) = written {
                if !already {
                    let _ = std::fs::remove_dir_all(&folder);
                }
                return Err(error);
            }
        }
        Ok(Installed { folder, drop_in, already, before: before.map(|before| before.version), in_use })
    }

    /// Renames it into its place; says whether the same was there before.
    fn place(&self, folder: &Path) -> Result<bool, PackageError> {
        let other = || PackageError::OtherContents {
            plugin: self.manifest.title(),
            id: self.manifest.id.clone(),
            folder: folder.into(),
        };
        let parent = folder.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(io(parent))?;
        match Receipt::read(folder) {
            Some(there) if there.manifest_sha256 != self.receipt.manifest_sha256 => return Err(other()),
            Some(_)
                if manifest_in(folder).and_then(|(manifest, _)| contents(folder, &manifest, &[RECEIPT])).is_ok() =>
            {
                // What is known of it may be more now, such as who signed it.
                let file = folder.join(RECEIPT);
                let new = self.unpacked.join(RECEIPT);
                std::fs::rename(&new, &file).map_err(io(&file))?;
                return Ok(true);
            }
            // Half of it was removed or changed by hand: it is put there again.
            _ if folder.exists() => std::fs::remove_dir_all(folder).map_err(io(folder))?,
            _ => {}
        }
        match std::fs::rename(&self.unpacked, folder) {
            Ok(()) => Ok(false),
            // Another process was faster.
            Err(_) if Receipt::read(folder).is_some_and(|it| it.manifest_sha256 == self.receipt.manifest_sha256) => {
                Ok(true)
            }
            Err(_) if Receipt::read(folder).is_some() => Err(other()),
            Err(error) => Err(io(folder)(error)),
        }
    }
}

/// The plugin package that is registered under an id; `None`: nothing is.
///
/// # Errors
/// Something else is registered there, such as a library of the user.
pub(crate) fn in_use(home: &Home, id: &str) -> Result<Option<Receipt>, PackageError> {
    let file = home.drop_in(id);
    let text = match std::fs::read_to_string(&file) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        read => read.map_err(io(&file))?,
    };
    let registered = || PackageError::Registered { file: file.clone(), id: id.into() };
    let table: Table = toml::from_str(&text).map_err(|_| registered())?;
    let plugins = table.get("plugin").and_then(Value::as_array).ok_or_else(registered)?;
    let [plugin] = &plugins[..] else { return Err(registered()) };
    let library = plugin.get("library").and_then(Value::as_str).map(Path::new).ok_or_else(registered)?;
    let inside = library.strip_prefix(home.plugin(id)).map_err(|_| registered())?;
    let version = inside.components().next().map(|version| home.plugin(id).join(version));
    // One whose folder was removed by hand is nobody's: it can be written anew.
    Ok(version.and_then(|folder| Receipt::read(&folder)))
}

/// The registry file that registers a plugin package.
fn entry(manifest: &Manifest, library: &Path, sha256: &str, drop_in: &Path) -> Result<String, PackageError> {
    let texts = |texts: &[String]| Value::Array(texts.iter().map(|text| text.as_str().into()).collect());
    let mut plugin = Table::new();
    plugin.insert("id".into(), manifest.id.as_str().into());
    let library = library.to_str().ok_or_else(|| PackageError::Io {
        path: library.into(),
        text: "a registry can name no path that is no text".into(),
    })?;
    plugin.insert("library".into(), library.into());
    plugin.insert("sha256".into(), sha256.into());
    let reach = &manifest.reach;
    for (key, names) in [("kind", &manifest.kinds), ("environment", &reach.environment), ("devices", &reach.devices)] {
        if !names.is_empty() {
            plugin.insert(key.into(), texts(names));
        }
    }
    if reach.network {
        plugin.insert("network".into(), true.into());
    }
    if !manifest.options.is_empty() {
        let options = manifest.options.iter().map(|(key, value)| (key.clone(), value.as_str().into()));
        plugin.insert("options".into(), Value::Table(options.collect()));
    }
    let needs = manifest.requires.iter().filter_map(|need| need.package.as_ref());
    let mut runtime = Table::new();
    for (package, option) in needs {
        match runtime.get_mut(option).and_then(Value::as_array_mut) {
            Some(packages) => packages.push(package.as_str().into()),
            None => drop(runtime.insert(option.clone(), texts(std::slice::from_ref(package)))),
        }
    }
    if !runtime.is_empty() {
        plugin.insert("runtime".into(), Value::Table(runtime));
    }
    let mut table = Table::new();
    table.insert("version".into(), Value::Integer(1));
    table.insert("plugin".into(), Value::Array(vec![Value::Table(plugin)]));
    let text = toml::to_string_pretty(&table)
        .map_err(|error| PackageError::Io { path: drop_in.into(), text: error.to_string() })?;
    let (title, id) = (manifest.title(), &manifest.id);
    Ok(format!(
        "# Written by `host plugin add` for the plugin package {title}; `host plugin remove {id}` takes it back.\n{text}"
    ))
}

/// Takes back what was installed under an id: the registry file and all versions. Returns these; `None` where no plugin package was.
///
/// # Errors
/// Something else is registered under the id while versions of a package are there, or a folder cannot be removed.
pub fn remove(home: &Home, id: &str) -> Result<Option<Vec<String>>, PackageError> {
    let folder = home.plugin(id);
    let is_version = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten().filter(is_version);
    let mut versions: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    versions.retain(|version| !version.starts_with('.'));
    if versions.is_empty() {
        return Ok(None);
    }
    versions.sort_by(|a, b| order(a, b));
    // Where the id is registered for a library of the user, that stays.
    if !matches!(in_use(home, id), Err(PackageError::Registered { .. })) {
        let file = home.drop_in(id);
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(io(&file)(error)),
            _ => {}
        }
    }
    std::fs::remove_dir_all(&folder).map_err(io(&folder))?;
    Ok(Some(versions))
}
