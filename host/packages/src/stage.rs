//! A plugin package in a folder of its own, unpacked and verified, before it is put in its place.

use crate::archive::{Limits, unpack};
use crate::brought::{Brought, Expected, Form, bring};
use crate::error::{PackageError, io};
use crate::home::Home;
use crate::manifest::{Hashes, Library, MANIFEST, Manifest, read};
use crate::receipt::{RECEIPT, Receipt, SignedBy};
use crate::source::Source;
use crate::trusted::TrustedKeys;
use skillbench_record::hash::{sha256, sha256_text};
use skillbench_record::scratch::Scratch;
use skillbench_record::time::now_utc;
use skillbench_signatures::{PublicKey, Signature};
use std::path::{Path, PathBuf};

pub use crate::brought::Wishes;

/// A plugin package that everything fits but what its library says of itself.
#[derive(Debug)]
pub struct Staged {
    pub manifest: Manifest,
    pub receipt: Receipt,
    /// What its user should know, each as a sentence.
    pub warnings: Vec<String>,
    pub(crate) library: Library,
    pub(crate) unpacked: PathBuf,
    #[expect(dead_code, reason = "what is unpacked is removed with it")]
    scratch: Scratch,
}

/// Brings a plugin package, unpacks it, and holds its files, its signature and this machine against its manifest.
///
/// # Errors
/// What does not fit, and what to do next. Nothing is left of it.
pub fn stage(source: &Source, home: &Home, wishes: &Wishes) -> Result<Staged, PackageError> {
    let keys = TrustedKeys::load(home)?;
    let scratch = Scratch::in_folder(&home.packages()).map_err(io(&home.packages()))?;
    let Brought { form, signature, from, expected } = bring(source, wishes, scratch.path())?;
    let unpacked = scratch.path().join("unpacked");
    let (signed, hash) = match &form {
        Form::Packed(file) => {
            let found = sha256(file).map_err(io(file))?;
            as_indexed(&from, &found, expected.as_ref())?;
            unpack(file, &unpacked, &wishes.limits).map_err(|error| named(error, file, &from))?;
            (file.clone(), Some(found))
        }
        Form::Loose(folder) => (folder.join(MANIFEST), None),
    };
    let (manifest, text) = manifest_in(if hash.is_some() { &unpacked } else { signed.parent().unwrap_or(&unpacked) })?;
    if let Form::Loose(folder) = &form {
        take(folder, &manifest, &unpacked)?;
    }
    if let Some(expected) = &expected {
        let (found, title) = (manifest.title(), format!("{} {}", expected.id, expected.version));
        if found != title {
            let by = format!("the index {}", expected.index);
            return Err(PackageError::OtherContentsThanIndexed { what: from, found, expected: title, by });
        }
    }
    let signed_by = judge(signature, &signed, &manifest, &keys, expected.as_ref(), wishes.unsigned)?;
    contents(&unpacked, &manifest, &[])?;
    let mut warnings = manifest.unknown.clone();
    warnings.extend(contract(&manifest, wishes)?);
    let library = wishes.here.library(&manifest)?.clone();
    warnings.extend(told(&manifest, signed_by.as_ref(), home));
    let (format, form) = Receipt::FORM;
    let receipt = Receipt {
        format: format.into(),
        form,
        id: manifest.id.clone(),
        version: manifest.version.clone(),
        from,
        index: expected.map(|expected| expected.index),
        sha256: hash,
        manifest_sha256: sha256_text(&text),
        library: library.file.clone(),
        signed_by,
        installed: now_utc(),
        checked: manifest.checked.clone(),
        requires: manifest.requires.iter().map(|need| need.what.clone()).collect(),
    };
    Ok(Staged { manifest, receipt, warnings, library, unpacked, scratch })
}

impl Staged {
    /// The library for this machine, to be asked what it says of itself before it is installed.
    pub fn library(&self) -> PathBuf {
        self.unpacked.join(&self.library.file)
    }

    /// Holds what the library says of itself against the manifest.
    ///
    /// # Errors
    /// It has another id, or lacks a kind: then it is another plugin than the one that was signed for.
    pub fn says(&mut self, id: &str, version: &str, kinds: &[&str]) -> Result<(), PackageError> {
        if id != self.manifest.id {
            return Err(PackageError::OtherId { found: id.into(), expected: self.manifest.id.clone() });
        }
        if let Some(kind) = self.manifest.kinds.iter().find(|kind| !kinds.contains(&kind.as_str())) {
            return Err(PackageError::OtherKind { expected: kind.clone(), found: kinds.join(", ") });
        }
        if version != self.manifest.version {
            let own = &self.manifest.version;
            self.warnings
                .push(format!("the library says that it is version '{version}', and its manifest says '{own}'"));
        }
        Ok(())
    }
}

/// A whole plugin package, unpacked into a new folder: its manifest, after every file was held against it.
pub(crate) fn opened(file: &Path, into: &Path, limits: &Limits) -> Result<Manifest, PackageError> {
    unpack(file, into, limits)?;
    let (manifest, _) = manifest_in(into)?;
    contents(into, &manifest, &[])?;
    Ok(manifest)
}

/// Messages name what the user named, and not where it lies meanwhile.
fn named(error: PackageError, file: &Path, from: &str) -> PackageError {
    let name = |path: PathBuf| if path == file { PathBuf::from(from) } else { path };
    match error {
        PackageError::Archive { file, text } => PackageError::Archive { file: name(file), text },
        PackageError::Entry { file, entry, why } => PackageError::Entry { file: name(file), entry, why },
        PackageError::TooLarge { file, most } => PackageError::TooLarge { file: name(file), most },
        other => other,
    }
}

fn as_indexed(from: &str, found: &str, expected: Option<&Expected>) -> Result<(), PackageError> {
    match expected {
        Some(expected) if expected.sha256 != found => Err(PackageError::Hash {
            file: from.into(),
            found: found.into(),
            expected: expected.sha256.clone(),
            by: format!("the index {}", expected.index),
        }),
        _ => Ok(()),
    }
}

pub(crate) fn manifest_in(folder: &Path) -> Result<(Manifest, String), PackageError> {
    const LARGEST: u64 = 4 << 20;
    let file = folder.join(MANIFEST);
    let missing = |_| PackageError::Missing { entry: MANIFEST.into() };
    if std::fs::metadata(&file).map_err(missing)?.len() > LARGEST {
        return Err(PackageError::TooLarge { file: MANIFEST.into(), most: format!("{} MB", LARGEST / 1_000_000) });
    }
    let text = std::fs::read_to_string(&file).map_err(io(Path::new(MANIFEST)))?;
    Ok((read(&text, Path::new(MANIFEST), Hashes::Given)?, text))
}

/// The paths of all files that a manifest lists, with their hashes.
fn listed(manifest: &Manifest) -> impl Iterator<Item = (&str, &str)> {
    let libraries = manifest.libraries.iter().map(|library| (library.file.as_str(), library.sha256.as_str()));
    libraries.chain(manifest.files.iter().map(|file| (file.path.as_str(), file.sha256.as_str())))
}

/// Copies what a manifest lists out of a folder that holds other files too.
fn take(folder: &Path, manifest: &Manifest, into: &Path) -> Result<(), PackageError> {
    for path in listed(manifest).map(|(path, _)| path).chain([MANIFEST]) {
        let (from, to) = (folder.join(path), into.join(path));
        let parent = to.parent().unwrap_or(into);
        std::fs::create_dir_all(parent).map_err(io(parent))?;
        std::fs::copy(&from, &to).map_err(|_| PackageError::Missing { entry: path.into() })?;
    }
    Ok(())
}

/// Every file that is listed is there with its hash, and no other file is but the one of this host, `own`.
pub(crate) fn contents(folder: &Path, manifest: &Manifest, own: &[&str]) -> Result<(), PackageError> {
    for (path, expected) in listed(manifest) {
        let file = folder.join(path);
        if !file.is_file() {
            return Err(PackageError::Missing { entry: path.into() });
        }
        let found = sha256(&file).map_err(io(&file))?;
        if found != expected {
            let (file, expected) = (path.into(), expected.into());
            return Err(PackageError::Hash { file, found, expected, by: "its manifest".into() });
        }
    }
    if listed(manifest).any(|(path, _)| path == RECEIPT) {
        return Err(PackageError::NotListed { entry: format!("{RECEIPT}, a name that is the host's,") });
    }
    unlisted(folder, "", manifest, own)
}

fn unlisted(folder: &Path, prefix: &str, manifest: &Manifest, own: &[&str]) -> Result<(), PackageError> {
    for entry in std::fs::read_dir(folder).map_err(io(folder))? {
        let entry = entry.map_err(io(folder))?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().map_err(io(folder))?.is_dir() {
            unlisted(&entry.path(), &format!("{path}/"), manifest, own)?;
        } else if path != MANIFEST && !own.contains(&&*path) && !listed(manifest).any(|(listed, _)| listed == path) {
            return Err(PackageError::NotListed { entry: path });
        }
    }
    Ok(())
}

/// Whether somebody stands for it whom the user trusts.
fn judge(
    signature: Option<(String, String)>,
    signed: &Path,
    manifest: &Manifest,
    keys: &TrustedKeys,
    expected: Option<&Expected>,
    unsigned: bool,
) -> Result<Option<SignedBy>, PackageError> {
    let plugin = manifest.title();
    let Some((text, place)) = signature else {
        let file = crate::file_name(&manifest.id, &manifest.version);
        return if unsigned { Ok(None) } else { Err(PackageError::Unsigned { plugin, file }) };
    };
    let signature = Signature::parse(&text, &place)?;
    let id = signature.key_id();
    let mut failed = None;
    for (key, trusted) in keys.of_id(&id) {
        match signature.verify(&key, signed) {
            Ok(()) => {
                let (key, name, comment) = (key.line(), trusted.name.clone(), signature.comment());
                return Ok(Some(SignedBy { key, id, name, comment }));
            }
            Err(text) => {
                failed = Some(PackageError::BadSignature { plugin: plugin.clone(), by: trusted.shown(), text })
            }
        }
    }
    Err(failed.unwrap_or_else(|| {
        let whose = whose(&signature, signed, manifest, expected);
        PackageError::OtherKey { plugin, id, whose }
    }))
}

/// Whose key an unknown one is, as far as the package and its index say; and how to trust it.
fn whose(signature: &Signature, signed: &Path, manifest: &Manifest, expected: Option<&Expected>) -> String {
    let by_index =
        expected.and_then(|expected| Some((format!("the index {}", expected.index), expected.key.as_ref()?)));
    let by_itself = manifest.key.as_ref().map(|key| ("its own manifest".to_string(), key));
    let named = by_index.into_iter().chain(by_itself);
    let mut named = named.filter_map(|(by, line)| Some((by, PublicKey::parse(line).ok()?)));
    let vendor = if manifest.vendor.is_empty() { "its vendor" } else { &manifest.vendor };
    match named.find(|(_, key)| signature.verify(key, signed).is_ok()) {
        Some((by, key)) => {
            let (line, name) = (key.line(), typed(&manifest.vendor).unwrap_or(&manifest.id));
            format!(
                "{by} names it as that of {vendor}, which proves nothing. Where {vendor} publishes this very key, trust it with \
                 `host plugin trust {line} --name \"{name}\"`, and call again"
            )
        }
        None => format!(
            "nothing says whose it is. Ask {vendor} for the public key (a line that begins with RW), trust it with \
             `host plugin trust KEY`, and call again"
        ),
    }
}

/// A text of others that may stand in a command which people copy into a shell.
fn typed(text: &str) -> Option<&str> {
    let plain = |c: char| c.is_alphanumeric() || " .,_-".contains(c);
    (!text.is_empty() && text.chars().all(plain)).then_some(text)
}

/// The contract of the libraries against that of the host: another major cannot work, a newer minor works as far as it is known.
fn contract(manifest: &Manifest, wishes: &Wishes) -> Result<Option<String>, PackageError> {
    let (needs, has) = (manifest.contract, wishes.contract);
    if needs.major != has.major {
        let (needs, has) = (needs.to_string(), has.to_string());
        return Err(PackageError::OtherContract { plugin: manifest.title(), needs, has });
    }
    let text = || {
        format!(
            "{} is built with contract {needs}, and this host has {has}: what came since is not used",
            manifest.title()
        )
    };
    Ok((needs.minor > has.minor).then(text))
}

/// What a user should know before it is installed.
fn told(manifest: &Manifest, signed_by: Option<&SignedBy>, home: &Home) -> Vec<String> {
    let mut told = vec![];
    let title = manifest.title();
    if signed_by.is_none() {
        told.push(format!("{title} is not signed: nobody stands for its contents"));
    }
    let before = crate::install::in_use(home, &manifest.id).ok().flatten().and_then(|before| before.signed_by);
    if let Some(before) = before.filter(|before| signed_by.is_none_or(|now| now.key != before.key)) {
        told.push(format!(
            "what is installed of {} was signed by another key, {} ({})",
            manifest.id, before.name, before.id
        ));
    }
    if let Some(checked) = manifest.checked.as_ref().filter(|checked| !checked.broken.is_empty()) {
        told.push(format!("{title} breaks rules, as its own check says: {}", checked.broken.join(", ")));
    }
    let reach = &manifest.reach;
    for (what, names) in [("write to the devices", &reach.devices), ("read the variables", &reach.environment)] {
        if !names.is_empty() {
            told.push(format!("{title} may {what} {}", names.join(", ")));
        }
    }
    if reach.network {
        told.push(format!("{title} may use the network under --sandbox strict"));
    }
    told
}
