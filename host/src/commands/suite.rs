//! `host suite`: what to run, as a file.

use super::doctor::doctor;
use super::persist::Persist;
use super::starter::commented;
use super::update::Which;
use super::{CommandError, Done, Exit, failed, run, schedule, update, usage};
use crate::cli::{FleetArgs, FormatArg, Global, RequestArgs, ScheduleArgs, SuiteArgs, SuiteCommand};
use crate::output;
use skillbench_engine::run as engine;
use skillbench_engine::suite::{self, Format, Generated, SuiteFile};
use std::path::{Path, PathBuf};

pub fn suite(global: &Global, args: &SuiteArgs) -> Done {
    match &args.command {
        None => by_flags(global, args),
        Some(SuiteCommand::Run { file, request, incremental, fleet, persist }) => {
            let persist = Persist { incremental: *incremental, ..Persist::new(global, persist) };
            run_suite(global, || read(file), request, &persist, fleet)
        }
        Some(SuiteCommand::Init { file }) => init(global, file),
        Some(SuiteCommand::Check { file, request }) => check(global, &file.display().to_string(), read(file)?, request),
        Some(SuiteCommand::Generate { skillset_dir, output_dir, request, suite_dir, generate_only }) => {
            let suites = suite_dir.as_ref().unwrap_or(output_dir);
            generate(global, skillset_dir, [suites, output_dir], request, *generate_only)
        }
    }
}

/// What was asked for without a subcommand. Where no file is named, the suite is the one that `init` writes.
fn by_flags(global: &Global, args: &SuiteArgs) -> Done {
    let SuiteArgs { config, request, .. } = args;
    if let Some(file) = &args.create_config {
        return init(global, file);
    }
    if args.schedule_benchmarks {
        return schedule::schedule(global, &ScheduleArgs::of(args));
    }
    let persist = Persist { incremental: args.incremental_benchmarks, ..Persist::new(global, &args.persist) };
    if args.update_benchmarks {
        let options = run::options(&request.option)?;
        let which =
            Which { models: &request.model, plugins: &request.plugin, benchmarks: &request.bench, options: &options };
        return update::stale(global, args.older_than, &which, &request.how, false, &persist);
    }
    let suite = || match config {
        Some(file) => read(file),
        None => Ok(starter(global)),
    };
    let is_meant = config.is_some() || request.suite() != SuiteFile::default();
    match args.check {
        true if !is_meant => doctor(global),
        true => {
            let name = config.as_ref().map_or("the suite to begin with".into(), |file| file.display().to_string());
            check(global, &name, suite()?, request)
        }
        false => run_suite(global, suite, request, &persist, &FleetArgs::default()),
    }
}

fn read(file: &Path) -> Result<SuiteFile, CommandError> {
    suite::read(file).map_err(usage)
}

/// A suite with what is asked for next to it, after what it leaves undone was told.
fn with(suite: SuiteFile, request: &RequestArgs) -> SuiteFile {
    let told = suite::left_undone(&suite);
    let with = request.over(suite);
    // What is said of the suite's models does not hold where others are in their place.
    let replaced = |sentence: &str| request.suite().names_models() && sentence.starts_with("model_families");
    told.iter().filter(|sentence| !replaced(sentence)).for_each(|sentence| output::warning(sentence));
    with
}

fn run_suite(
    global: &Global,
    suite: impl FnOnce() -> Result<SuiteFile, CommandError>,
    request: &RequestArgs,
    persist: &Persist,
    fleet: &FleetArgs,
) -> Done {
    if let Some(done) = persist.without_measuring(global) {
        return done;
    }
    let suite = with(suite()?, request);
    let mut persist = Persist {
        matrix: suite.update_compatibility_matrix,
        plots: persist.plots || suite.generate_plots,
        ..persist.clone()
    };
    persist.gate.limit.extend(suite.limits.iter().cloned());
    run::carry_out(global, &suite, &persist, fleet)
}

fn check(global: &Global, name: &str, suite: SuiteFile, request: &RequestArgs) -> Done {
    let request = run::request(global, &with(suite, request))?;
    let inventory = global.inventory();
    let plan = engine::plan(&inventory, request).map_err(usage)?;
    plan.warnings.iter().for_each(|warning| output::warning(warning));
    let skipped = plan.cells.iter().filter(|cell| cell.skip.is_some()).count();
    let names: Vec<&str> = plan.models.iter().map(|model| model.id()).collect();
    output::say(&format!(
        "{name}: {} cells of {}; {skipped} are skipped by a rule",
        plan.cells.len(),
        names.join(", ")
    ));
    Ok(Exit::Good)
}

/// The suite to begin with.
fn starter(global: &Global) -> SuiteFile {
    suite::starter(&global.inventory().catalog())
}

pub fn init(global: &Global, file: &Path) -> Done {
    let suite = starter(global);
    match Format::of(file) {
        Format::Toml => write_text(&commented(&suite)?, file)?,
        Format::Json => write(&suite, file)?,
    }
    output::say(&format!("{} is written; `host suite run {}` runs it", file.display(), file.display()));
    Ok(Exit::Good)
}

fn write_text(text: &str, file: &Path) -> Result<(), CommandError> {
    if file.exists() {
        return Err(usage(format!("{} is there already, and is left as it is", file.display())));
    }
    std::fs::write(file, text).map_err(|error| failed(format!("{}: {error}", file.display())))
}

fn write(suite: &SuiteFile, file: &Path) -> Result<(), CommandError> {
    let told = |error: std::io::Error| failed(format!("{}: {error}", file.display()));
    write_text(&suite.to_text(Format::of(file)).map_err(told)?, file)
}

fn generate(
    global: &Global,
    folder: &Path,
    [suites, output_dir]: [&PathBuf; 2],
    request: &RequestArgs,
    generate_only: bool,
) -> Done {
    let offered = suite::offered(folder).map_err(|error| usage(format!("{}: {error}", folder.display())))?;
    for rejected in &offered.rejected {
        output::warning(&format!("{} ({}) is left out: {}", rejected.id, rejected.origin, rejected.reason));
    }
    let generated = suite::generate(&offered.skills);
    if generated.is_empty() {
        return Err(usage(format!(
            "{} offers no skill: no skillset plugin and no .onnx file is in it",
            folder.display()
        )));
    }
    std::fs::create_dir_all(suites).map_err(|error| failed(format!("{}: {error}", suites.display())))?;
    let mut files: Vec<PathBuf> = vec![];
    for Generated { file, suite } in &generated {
        let path = suites.join(file);
        let text = request.over(suite.clone()).to_text(Format::of(&path)).map_err(failed)?;
        std::fs::write(&path, text).map_err(|error| failed(format!("{}: {error}", path.display())))?;
        files.push(path);
    }
    output::say(&format!("{} suites are in {}", files.len(), suites.display()));
    // A run finds the skills of plugins where their folder is a search path.
    let mut global = global.clone();
    if !offered.libraries.is_empty() {
        global.search.push(folder.to_path_buf());
        output::say(&format!("run one with: host --search-path {} suite run FILE", folder.display()));
    }
    if generate_only {
        return Ok(Exit::Good);
    }
    let mut worst = Exit::Good;
    let persist = Persist::beside(&global, &output_dir.join("results"));
    for file in &files {
        output::say(&format!("suite {}", file.display()));
        let ended = run_suite(&global, || read(file), &RequestArgs::default(), &persist, &FleetArgs::default())?;
        if ended == Exit::Stopped {
            return Ok(ended);
        }
        worst = worst.or(ended);
    }
    if matches!(global.format, FormatArg::Table) && !global.quiet {
        output::say(&format!("the runs are in {}", output_dir.join("results").display()));
    }
    Ok(worst)
}
