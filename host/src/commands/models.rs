//! `host models`: what can be measured.

use super::{Done, Exit, failed, usage};
use crate::cli::{Global, ModelsArgs, ModelsCommand};
use crate::output;
use skillbench_engine::skill::{ModelCache, Skill, SkillSource, Tell, clean_references};
use skillbench_models::SkillDescription;
use skillbench_models::user_models::local::NO_LIMIT;
use skillbench_record::Axes;
use skillbench_record::suggest::one_of;
use skillbench_report::{Cell, Table};

pub fn models(global: &Global, args: &ModelsArgs) -> Done {
    if let Some(ModelsCommand::Clean { keep_gb }) = args.command {
        return clean(global, keep_gb);
    }
    let mut inventory = global.inventory();
    if !global.quiet {
        inventory.tell = Tell(output::say);
    }
    let catalog = inventory.catalog();
    if args.model.is_empty() {
        known_kinds(args, catalog.skills.iter().map(|skill| &skill.description)).map_err(usage)?;
    }
    let mut table = Table::new([
        "id",
        "aliases",
        "family",
        "architecture",
        "category",
        "task",
        "parameters",
        "gflops",
        "gflops_at",
        "weights_mb",
        "axes",
        "generates",
        "key",
        "relation",
        "reduced",
    ])
    .least([
        "key",
        "generates",
        "gflops_at",
        "aliases",
        "axes",
        "reduced",
        "relation",
        "weights_mb",
        "architecture",
        "category",
        "gflops",
        "task",
    ]);
    let asked: Vec<Skill> = match args.model.is_empty() {
        true => catalog.skills.clone(),
        false => args.model.iter().map(|name| catalog.find(name).map_err(usage)).collect::<Result<_, _>>()?,
    };
    for skill in &asked {
        match &skill.source {
            SkillSource::UserModel(user_model) if !global.quiet => {
                user_model.kind.evidence.iter().for_each(|found| output::say(&format!("{}: {found}", skill.id())));
            }
            SkillSource::Bad { why, .. } => return Err(usage(why)),
            _ => {}
        }
    }
    for skill in asked.iter().map(|skill| &skill.description).filter(|skill| fits(skill, args)) {
        let axes: Vec<String> =
            skill.axes.iter().map(|(name, [least, most])| format!("{name} {least}-{}", limit(*most))).collect();
        // The smallest point that was counted; what every inference reads is in 32-bit floats.
        let counted = skill.flops.0.iter().min_by(|one, other| one.value.total_cmp(&other.value));
        let generates = skill.generator.clone().or_else(|| skill.generation.is_some().then(|| skill.id.clone()));
        let small = skill.small_of.as_ref().map(|key| format!("{key} (small)"));
        let key: Vec<String> = skill.key.clone().into_iter().chain(small).collect();
        table.row([
            Cell::text(&skill.id),
            skill.aliases.join(", ").into(),
            Cell::text(&skill.family),
            Cell::text(&skill.architecture),
            Cell::text(&skill.category),
            Cell::text(&skill.task),
            Cell::maybe(skill.parameters, Cell::count),
            Cell::maybe(counted.map(|count| count.value / 1e9), Cell::number),
            Cell::maybe(counted.map(|count| point(&count.axes)), Cell::from),
            Cell::maybe(skill.weight_bytes("float32").map(|bytes| bytes as f64 / 1e6), Cell::number),
            axes.join(", ").into(),
            Cell::maybe(generates, Cell::from),
            key.join(", ").into(),
            Cell::maybe(skill.relation.clone(), Cell::from),
            Cell::maybe(skill.reduced.as_ref().filter(|r| !r.is_null()), |r| {
                r.as_str().map_or_else(|| r.to_string(), String::from).into()
            }),
        ]);
    }
    output::table(&table, global.format.into());
    catalog.problems.iter().for_each(|problem| output::warning(problem));
    if !global.quiet {
        output::say(&format!("{} of {} models", table.rows.len(), catalog.skills.len()));
    }
    Ok(Exit::Good)
}

fn point(axes: &Axes) -> String {
    axes.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// The greatest value of an axis; nothing where nobody knows one.
fn limit(most: i64) -> String {
    if most >= NO_LIMIT { String::new() } else { most.to_string() }
}

/// A kind of model that is asked for, its name, and what a model says of itself.
type Kind<'a> = (&'a str, &'a Option<String>, fn(&SkillDescription) -> &str);

fn kinds(args: &ModelsArgs) -> [Kind<'_>; 4] {
    [
        ("family", &args.family, |skill| &skill.family),
        ("architecture", &args.architecture, |skill| &skill.architecture),
        ("category", &args.category, |skill| &skill.category),
        ("task", &args.task, |skill| &skill.task),
    ]
}

fn folded(text: &str) -> String {
    text.to_lowercase().replace(['-', '_'], " ")
}

/// # Errors
/// A kind that no model is of, with those that there are.
fn known_kinds<'a>(
    args: &ModelsArgs,
    skills: impl Iterator<Item = &'a SkillDescription> + Clone,
) -> Result<(), String> {
    for (name, wanted, of) in kinds(args) {
        let Some(wanted) = wanted else { continue };
        let known: Vec<&str> = skills.clone().map(of).collect();
        if !known.iter().any(|own| folded(own) == folded(wanted)) {
            return Err(format!("no model is of the {name} '{wanted}'{}", one_of(wanted, known)));
        }
    }
    Ok(())
}

fn fits(skill: &SkillDescription, args: &ModelsArgs) -> bool {
    let same = |(_, wanted, of): Kind<'_>| wanted.as_ref().is_none_or(|wanted| folded(wanted) == folded(of(skill)));
    let size = |limit: Option<u64>, test: fn(u64, u64) -> bool| {
        limit.is_none_or(|limit| skill.parameters.is_some_and(|own| test(own, limit)))
    };
    kinds(args).into_iter().all(same)
        && size(args.min_size, |own, least| own >= least)
        && size(args.max_size, |own, most| own <= most)
}

fn clean(global: &Global, keep_gb: f64) -> Done {
    let cache = ModelCache::open();
    let freed = cache.trim((keep_gb * 1e9) as u64).map_err(|e| failed(format!("{}: {e}", cache.root().display())))?;
    let references = if keep_gb > 0.0 { 0 } else { clean_references().map_err(failed)? };
    if !global.quiet {
        let used = match freed.in_use {
            0 => String::new(),
            count => format!("; {count} in use stay"),
        };
        let megabytes = (freed.bytes + references) as f64 / 1e6;
        output::say(&format!("{} models given up, {megabytes:.0} MB freed{used}", freed.models));
    }
    Ok(Exit::Good)
}
