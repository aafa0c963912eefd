//! `host models`: what can be measured.

use super::{Done, Exit};
use crate::cli::Global;
use crate::output;
use skillbench_engine::run::Inventory;
use skillbench_report::{Cell, Table};

/// `only`: family, architecture, category and task to keep.
pub fn models(global: &Global, only: &[Option<String>; 4]) -> Done {
    let inventory = Inventory::take(&global.sources());
    let catalog = inventory.catalog();
    let mut table =
        Table::new(["id", "aliases", "family", "architecture", "category", "task", "parameters", "axes", "reduced"]);
    for skill in catalog.skills.iter().map(|skill| &skill.description) {
        let fields = [&skill.family, &skill.architecture, &skill.category, &skill.task];
        let keep = fields
            .iter()
            .zip(only)
            .all(|(field, want)| want.as_ref().is_none_or(|want| field.eq_ignore_ascii_case(want)));
        if !keep {
            continue;
        }
        let axes: Vec<String> =
            skill.axes.iter().map(|(name, [least, most])| format!("{name} {least}-{most}")).collect();
        table.row([
            Cell::text(&skill.id),
            skill.aliases.join(", ").into(),
            Cell::text(&skill.family),
            Cell::text(&skill.architecture),
            Cell::text(&skill.category),
            Cell::text(&skill.task),
            Cell::maybe(skill.parameters, Cell::count),
            axes.join(", ").into(),
            Cell::maybe(skill.reduced.as_ref().filter(|r| !r.is_null()), |r| r.to_string().into()),
        ]);
    }
    output::table(&table, global.format.into());
    catalog.problems.iter().for_each(|problem| output::warning(problem));
    if !global.quiet {
        output::say(&format!("{} of {} models", table.rows.len(), catalog.skills.len()));
    }
    Ok(Exit::Good)
}
