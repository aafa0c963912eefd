//! `host plugin trust`: the keys whose signatures are believed.

use super::told;
use crate::cli::{Global, TrustArgs};
use crate::commands::{Done, Exit, failed, usage};
use crate::output;
use skillbench_packages::{Home, TrustedKeys};
use skillbench_report::{Cell, Table};
use skillbench_signatures::PublicKey;
use std::path::Path;

pub fn trust(global: &Global, args: &TrustArgs) -> Done {
    let mut keys = TrustedKeys::load(&Home::of_user()).map_err(told)?;
    let Some(named) = &args.key else {
        output::table(&table(&keys), global.format.into());
        return Ok(Exit::Good);
    };
    let text = match Path::new(named).is_file() {
        true => std::fs::read_to_string(named).map_err(|error| failed(format!("{named}: {error}")))?,
        false => named.clone(),
    };
    let file = keys.file().display().to_string();
    if args.remove {
        let gone = keys.distrust(text.trim()).map_err(told)?;
        if gone.is_empty() {
            return Err(usage(format!("{file} has no key '{named}'; `host plugin trust` lists them")));
        }
        gone.iter().for_each(|key| output::say(&format!("{} is trusted no more; what it signed stays", key.shown())));
        return Ok(Exit::Good);
    }
    let key = PublicKey::parse(&text).map_err(usage)?;
    let already = keys.trust(&key, &args.name).map_err(told)?;
    let state = if already { "was trusted already" } else { "is trusted from now on" };
    output::say(&format!("the key {} {state}, in {file}", key.id()));
    Ok(Exit::Good)
}

fn table(keys: &TrustedKeys) -> Table {
    let mut table = Table::new(["name", "number", "since", "key"]).least(["key"]);
    for known in &keys.keys {
        let number = PublicKey::parse(&known.key).map(|key| key.id()).unwrap_or_default();
        table.row([Cell::text(&known.name), number.into(), Cell::text(&known.since), Cell::text(&known.key)]);
    }
    table
}
