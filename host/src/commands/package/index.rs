//! `host plugin index`: the list of a folder of plugin packages, for anybody to host.

use super::{told, wishes};
use crate::cli::Global;
use crate::commands::{Done, Exit};
use crate::output;
use skillbench_packages::write_index;
use skillbench_report::{Cell, Table};
use skillbench_signatures::PublicKey;
use std::path::Path;

pub fn index(global: &Global, folder: &Path) -> Done {
    let (file, plugins) = write_index(folder, &wishes(true, vec![])).map_err(told)?;
    let mut table = Table::new(["id", "version", "platforms", "contract", "signed with", "checked", "sha256"]);
    for plugin in &plugins {
        let key = plugin.key.as_deref().and_then(|key| PublicKey::parse(key).ok()).map(|key| key.id());
        table.row([
            Cell::text(&plugin.id),
            Cell::text(&plugin.version),
            plugin.platforms.join(", ").into(),
            Cell::text(&plugin.contract),
            key.map_or(Cell::none(), Cell::text),
            plugin.checked.as_ref().map_or(Cell::none(), |checked| Cell::text(checked.to_string())),
            Cell::text(&plugin.sha256),
        ]);
    }
    output::table(&table.least(["sha256", "checked"]), global.format.into());
    if plugins.is_empty() {
        output::warning(&format!("{} holds no file *{}", folder.display(), skillbench_packages::ENDING));
    }
    output::say(&format!("written: {}; host the whole folder", file.display()));
    Ok(Exit::Good)
}
