//! The files on a fleet's server.

use super::{Contact, needs_submitter};
use crate::cli::Global;
use crate::commands::{Done, Exit, failed, usage};
use crate::output;
use skillbench_fleet::files::{NamedFile, list, remove, remove_all};
use skillbench_record::time::utc;
use skillbench_report::{Cell, Table};

const ALL: &str = "all";

pub fn files(global: &Global, contact: &Contact, removed: &[String]) -> Done {
    let stored = list(&contact.courier).map_err(failed)?;
    if removed.is_empty() {
        let mut table = Table::new(["sha256", "size (MB)", "stored at"]);
        for file in &stored {
            table.row([Cell::text(&file.sha256), Cell::number(file.bytes as f64 / 1e6), utc(file.at).into()]);
        }
        output::table(&table, global.format.into());
        return Ok(Exit::Good);
    }
    needs_submitter(contact)?;
    if removed.iter().any(|name| name == ALL) {
        remove_all(&contact.courier).map_err(failed)?;
        if !global.quiet {
            output::say(&format!("{} files were removed, and what was not sent to its end", stored.len()));
        }
        return Ok(Exit::Good);
    }
    for sha256 in removed {
        let file = NamedFile { name: sha256.clone(), sha256: sha256.clone(), bytes: 0 };
        file.check().map_err(usage)?;
        if !remove(&contact.courier, sha256).map_err(failed)? {
            return Err(usage(format!("the server has no file {sha256}: `host fleet files` lists them")));
        }
    }
    if !global.quiet {
        output::say(&format!("{} files were removed", removed.len()));
    }
    Ok(Exit::Good)
}
