//! `host plugin check`: a library held against the rules.

use super::{CommandError, Done, Exit, failed, usage};
use crate::cli::Global;
use crate::output;
use skillbench_engine::describe::DescriptionCache;
use skillbench_engine::run::Inventory;
use skillbench_record::{OptionChoice, PluginOptions};
use skillbench_report::{Cell, Table};
use skillbench_worker::check::{self, RULES, SLOTS, Slot, Tally, Verdict};
use skillbench_worker::sandbox::Sandbox;
use skillbench_worker::{Description, Failure, Library};
use std::path::Path;

/// The rules, as `docs/rules.md` has them.
pub fn list(global: &Global) -> Done {
    let mut table = Table::new(["rule", "id", "for", "a well-behaved plugin"]);
    for rule in RULES {
        table.row([Cell::count(rule.number.into()), rule.id.into(), rule.applies.name().into(), rule.sentence.into()]);
    }
    output::table(&table, global.format.into());
    Ok(Exit::Good)
}

/// The slots of the contract, as `docs/contract.md` has them.
pub fn slots(global: &Global) -> Done {
    let inventory = global.inventory();
    let mut table = Table::new(["table", "slot", "since", "called by", "held by the rules", "had by"]);
    for slot in SLOTS {
        let have =
            inventory.plugins.iter().filter(|plugin| has(&plugin.description, slot)).map(|plugin| plugin.id.as_str());
        let have: Vec<&str> = have.collect();
        table.row([
            slot.table.into(),
            slot.name.into(),
            slot.since.into(),
            slot.caller.into(),
            slot.rules.join(", ").into(),
            match (slot.optional, have.is_empty()) {
                (false, _) => "all".into(),
                (true, false) => have.join(", ").into(),
                (true, true) => "none of these".into(),
            },
        ]);
    }
    output::table(&table, global.format.into());
    Ok(Exit::Good)
}

/// Whether a plugin fills a slot that it might leave out. `init` shows from outside only when it is called.
fn has(description: &Description, slot: &Slot) -> bool {
    let backend = description.backend.as_ref();
    slot.table == "sb_backend" && backend.is_some_and(|backend| backend.slots.iter().any(|name| name == slot.name))
}

/// A plugin that is known by its id, or any library.
pub(super) struct Subject {
    pub library: Library,
    pub options: PluginOptions,
    pub description: Result<Description, Failure>,
    /// What else there is here.
    pub inventory: Inventory,
}

impl Subject {
    /// # Errors
    /// There is neither such a plugin nor such a file, or an option does not fit.
    pub fn look(global: &Global, what: &str, options: &[String]) -> Result<Subject, CommandError> {
        let inventory = global.inventory();
        let plugin = inventory.plugin(what);
        let library = plugin.map_or_else(|| library_at(what, &inventory), |plugin| Ok(plugin.library.clone()))?;
        let description = DescriptionCache::open(&global.stop).describe_anew(&library);
        let id = description.as_ref().map_or(what, |description| &description.id);
        let own = OptionChoice::all_of(id, options).map_err(usage)?;
        let options = match plugin {
            Some(plugin) => plugin.opened_with(&own, None).map_err(usage)?.options,
            None => own,
        };
        Ok(Subject { library, options, description, inventory })
    }
}

pub fn check(global: &Global, what: &str, options: &[String]) -> Done {
    let Subject { library, options, description, inventory } = Subject::look(global, what, options)?;
    if let Err(failure) = &description {
        output::warning(&format!("it cannot be described: {failure}"));
    }
    let reference = &skillbench_record::defaults::defaults().reference.plugin;
    let reference = inventory.plugin(reference).and_then(|plugin| plugin.opened_with(&PluginOptions::new(), None).ok());
    let verdicts = check::check(&library, description.as_ref().ok(), &options, reference.as_ref()).map_err(failed)?;

    let mut table = Table::new(["rule", "id", "verdict", "what"]);
    for (rule, verdict) in verdicts.iter().filter(|(_, verdict)| *verdict != Verdict::NotApplicable) {
        let what = verdict.how().unwrap_or(rule.sentence).to_string();
        table.row([Cell::count(rule.number.into()), rule.id.into(), verdict.name().into(), what.into()]);
    }
    output::table(&table, global.format.into());
    let Tally { kept, broken, unchecked } = Tally::of(verdicts.iter().map(|(_, verdict)| verdict));
    output::say(&format!("{}: {kept} rules kept, {broken} broken, {unchecked} not checked", library.display()));
    Ok(match (broken > 0 || description.is_err(), unchecked > 0) {
        (true, _) => Exit::Broken,
        (false, true) => Exit::Unavailable,
        (false, false) => Exit::Good,
    })
}

fn library_at(what: &str, inventory: &Inventory) -> Result<Library, CommandError> {
    let sandbox = Sandbox { mode: inventory.sandbox, ..Sandbox::default() };
    let found = |path| Library::new(path, sandbox);
    match Path::new(what).is_file() {
        true => std::fs::canonicalize(what).map(found).map_err(|error| usage(format!("{what}: {error}"))),
        false => Err(usage(format!("{}, and no file '{what}'", inventory.why_not(what)))),
    }
}
