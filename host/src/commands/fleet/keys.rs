//! Who belongs to a fleet.

use crate::cli::Global;
use crate::commands::{CommandError, Done, Exit, failed, usage};
use crate::output;
use skillbench_fleet::keys::{Folder, KeysError, Pass, Role, SUFFIX};
use skillbench_fleet::server;
use skillbench_record::time::utc;
use skillbench_report::{Cell, Table};
use std::path::{Path, PathBuf};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 3600);

pub fn refused(error: KeysError) -> CommandError {
    match error {
        KeysError::Io { .. } | KeysError::Key(_) | KeysError::Damaged { .. } | KeysError::Token(_) => failed(error),
        error => usage(error),
    }
}

pub fn init(global: &Global, dir: &Path, name: Option<&str>, address: &str) -> Done {
    let folder_name = || {
        let whole = std::path::absolute(dir).unwrap_or_else(|_| dir.into());
        whole.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let name = name.map_or_else(folder_name, String::from);
    let mut folder = Folder::init(dir, &name, address).map_err(refused)?;
    let own = folder.issue(&owner(), Role::Submitter, None).map_err(refused)?;
    let place = Pass::own_place(&name);
    let is_free = !place.exists();
    if is_free {
        own.write(&place).map_err(|error| failed(format!("{}: {error}", place.display())))?;
    }
    if !global.quiet {
        let (dir, address) = (dir.display(), folder.address());
        output::say(&format!(
            "the fleet '{name}' is in {dir}: keep that folder to yourself; its server is to be at {address}"
        ));
        match is_free {
            true => output::say(&format!("your own pass is {}: `host run --fleet {name}` uses it", place.display())),
            false => output::warning(&format!(
                "{} is there already, of another fleet: issue a pass for yourself with `host fleet user {dir} NAME --role submitter`",
                place.display()
            )),
        }
        output::say(&format!(
            "next: host fleet serve {dir}; and for each machine: host fleet user {dir} MACHINE --role agent"
        ));
    }
    Ok(Exit::Good)
}

/// Who makes a fleet, as a name in it.
fn owner() -> String {
    let user = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
    user.and_then(|user| skillbench_fleet::names::of_host(&user)).unwrap_or_else(|| "owner".into())
}

pub fn user(global: &Global, dir: &Path, name: &str, role: Role, days: Option<u32>, file: Option<&Path>) -> Done {
    let mut folder = Folder::open(dir).map_err(refused)?;
    let file = file.map_or_else(|| PathBuf::from(format!("{name}.{SUFFIX}")), Path::to_path_buf);
    if file.exists() {
        return Err(usage(format!("{} is there already: name another file with --output", file.display())));
    }
    let pass = folder.issue(name, role, days.map(|days| DAY * days)).map_err(refused)?;
    pass.write(&file).map_err(|error| failed(format!("{}: {error}", file.display())))?;
    if !global.quiet {
        let shown = file.display();
        output::say(&format!("{shown} is the pass of {name} ({}): whoever has the file is that user", role.name()));
        if role.measures() {
            output::say(&format!("on the machine: host fleet agent {shown}"));
        }
    }
    Ok(Exit::Good)
}

pub fn users(global: &Global, dir: &Path) -> Done {
    let folder = Folder::open(dir).map_err(refused)?;
    let mut table = Table::new(["name", "role", "issued", "expires", "revoked"]);
    for (name, user) in folder.users() {
        let at = |seconds: Option<i64>| seconds.map_or_else(Cell::none, |seconds| Cell::from(utc(seconds)));
        table.row([
            Cell::text(name),
            user.role.name().into(),
            at(Some(user.issued)),
            at(user.expires),
            at(user.revoked),
        ]);
    }
    output::table(&table, global.format.into());
    Ok(Exit::Good)
}

pub fn revoke(global: &Global, dir: &Path, name: &str) -> Done {
    let mut folder = Folder::open(dir).map_err(refused)?;
    folder.revoke(name).map_err(refused)?;
    let is_told = server::reload(&folder);
    if !global.quiet {
        output::say(&match is_told {
            true => format!("the pass of {name} is worth nothing any more: the server was told"),
            false => format!(
                "the pass of {name} is worth nothing once the server reads auth.conf again: none runs here; where it runs elsewhere, copy that file there"
            ),
        });
    }
    Ok(Exit::Good)
}
