//! `host plugin add`: a plugin package is verified and installed; a bare library is registered where it lies.

use super::{described, told, wishes};
use crate::cli::{AddArgs, Global};
use crate::commands::{Done, Exit, plugin, usage};
use crate::output;
use skillbench_engine::registry::Registry;
use skillbench_packages::{Home, Installed, Source, Staged, stage};
use skillbench_worker::sandbox::Sandbox;

pub fn add(global: &Global, args: &AddArgs) -> Done {
    let source = Source::parse(&args.plugin).map_err(told)?;
    if let Source::Library(library) = source {
        if args.unsigned || args.older || !args.index.is_empty() {
            let text = "--index, --unsigned and --older are about plugin packages, and";
            return Err(usage(format!("{text} {} is a library", library.display())));
        }
        return plugin::add(global, &library, args.id.clone(), args.pin);
    }
    if args.id.is_some() || args.pin {
        let text = "--id and --pin are about libraries: a plugin package has its own id, and is always pinned";
        return Err(usage(text));
    }
    let mut indexes = args.index.clone();
    if matches!(source, Source::Named { .. }) {
        indexes.extend(Registry::load(&global.sources()).indexes);
    }
    let home = Home::of_user();
    let mut staged = stage(&source, &home, &wishes(args.unsigned, indexes)).map_err(told)?;
    let description = described(global, staged.library(), sandbox(global, &staged))?;
    staged.says(&description.id, &description.version, &description.kinds()).map_err(told)?;
    staged.warnings.iter().for_each(|warning| output::warning(warning));
    let (title, signer, requires) = (staged.manifest.title(), staged.receipt.signer(), staged.receipt.requires.clone());
    let needs_runtime = staged.manifest.requires.iter().any(|need| need.package.is_some());
    let id = staged.manifest.id.clone();
    let installed = staged.install(&home, args.older).map_err(told)?;
    tell(&title, &signer, &installed);
    requires.iter().for_each(|need| output::say(&format!("it needs {need}")));
    if needs_runtime {
        output::say(&format!("host runtime install {id}"));
    }
    Ok(Exit::Good)
}

/// What its workers may reach: the same while it is asked what it is.
fn sandbox(global: &Global, staged: &Staged) -> Sandbox {
    let reach = staged.manifest.reach.clone();
    Sandbox {
        mode: global.sandbox.into(),
        environment: reach.environment,
        network: reach.network,
        devices: reach.devices,
    }
}

fn tell(title: &str, signer: &str, installed: &Installed) {
    let folder = installed.folder.display();
    match installed.already {
        true => output::say(&format!("{title} is in {folder} already, signed by {signer}")),
        false => output::say(&format!("installed {title} in {folder}, signed by {signer}")),
    }
    let drop_in = installed.drop_in.display();
    match (&installed.before, installed.in_use) {
        (Some(before), false) => output::say(&format!("{before} is newer and stays in use; --older takes this one")),
        (Some(before), true) if !installed.already => {
            output::say(&format!("registered in {drop_in}, where {before} was"))
        }
        _ => output::say(&format!("registered in {drop_in}")),
    }
}
