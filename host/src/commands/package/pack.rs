//! `host plugin pack`: a plugin package from a folder with a manifest, or from libraries alone.

use super::{described, here, told};
use crate::cli::{Global, PackArgs};
use crate::commands::{CommandError, Done, Exit, failed, usage};
use crate::output;
use skillbench_engine::registry::platform;
use skillbench_packages::pack::{self, Packed, Packing};
use skillbench_packages::{Checked, Contract, Manifest};
use skillbench_signatures::{PASSWORD, Signer};
use skillbench_worker::Description;
use skillbench_worker::sandbox::Sandbox;
use std::path::{Path, PathBuf};

pub fn pack(global: &Global, args: &PackArgs) -> Done {
    let packing = Packing {
        into: args.output_dir.clone(),
        signer: args.key.as_deref().map(signer).transpose()?,
        checked: args.checked.as_deref().map(Checked::of_report).transpose().map_err(told)?,
    };
    let packed = match &args.what[..] {
        [folder] if Path::new(folder).is_dir() => of_folder(global, Path::new(folder), &packing)?,
        libraries => of_libraries(global, libraries, &packing)?,
    };
    packed.manifest.unknown.iter().for_each(|warning| output::warning(warning));
    if !packed.left_out.is_empty() {
        output::warning(&format!("its manifest does not list, and it does not hold: {}", packed.left_out.join(", ")));
    }
    output::say(&format!("packed {} in {}", packed.manifest.title(), packed.file.display()));
    output::say(&format!("SHA-256 {}", packed.sha256));
    match (&packed.signature, &packed.manifest.key) {
        (Some(signature), Some(key)) => output::say(&format!("signed in {}, by the key {key}", signature.display())),
        _ => output::say("it is not signed: --key FILE signs it, and `minisign -G -W -s FILE` makes a key"),
    }
    Ok(Exit::Good)
}

/// The password comes from the environment alone: nobody is asked.
fn signer(key: &Path) -> Result<Signer, CommandError> {
    Signer::read(key, std::env::var(PASSWORD).ok()).map_err(|error| told(error.into()))
}

/// The library for this machine, where there is one, has to say the same of itself as the manifest.
fn of_folder(global: &Global, folder: &Path, packing: &Packing) -> Result<Packed, CommandError> {
    match pack::library_of(folder, &here()).map_err(told)? {
        Some((manifest, library)) => {
            let described = describe(global, &library)?;
            if described.id != manifest.id {
                let (own, id) = (&described.id, &manifest.id);
                return Err(usage(format!("{} says that it is '{own}', the manifest says '{id}'", library.display())));
            }
        }
        None => {
            output::warning("it has no library for this machine: none was opened to see whether it fits the manifest")
        }
    }
    pack::folder(folder, packing).map_err(told)
}

fn of_libraries(global: &Global, named: &[String], packing: &Packing) -> Result<Packed, CommandError> {
    let libraries: Vec<(String, PathBuf)> = named.iter().map(|text| by_platform(text)).collect();
    let own = libraries.iter().find(|(of, _)| *of == platform());
    let own = own.ok_or_else(|| {
        usage(format!("one library has to be for this machine, {}, to be asked what it is", platform()))
    })?;
    let described = describe(global, &own.1)?;
    let kinds = described.kinds().into_iter().map(String::from).collect();
    let Description { id, version, vendor, license, url, contract: (major, minor), .. } = described;
    let contract = Contract { major, minor };
    let manifest = Manifest { id, version, vendor, license, url, contract, kinds, ..Manifest::default() };
    pack::libraries(manifest, &libraries, packing).map_err(told)
}

/// `linux-aarch64=libacme.so`, or a file for this machine.
fn by_platform(text: &str) -> (String, PathBuf) {
    match text.split_once('=').filter(|_| !Path::new(text).exists()) {
        Some((platform, file)) => (platform.into(), file.into()),
        None => (platform(), text.into()),
    }
}

fn describe(global: &Global, library: &Path) -> Result<Description, CommandError> {
    let path = std::fs::canonicalize(library).map_err(|error| usage(format!("{}: {error}", library.display())))?;
    let sandbox = Sandbox { mode: global.sandbox.into(), ..Sandbox::default() };
    described(global, path, sandbox).map_err(|error| failed(format!("{}: {error}", library.display())))
}
