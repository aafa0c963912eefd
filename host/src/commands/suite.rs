//! `host suite`: what to run, as a file.

use super::keep::Keeping;
use super::{CommandError, Done, Exit, failed, run, usage};
use crate::cli::{FormatArg, Global, SuiteCommand};
use crate::output;
use skillbench_engine::run::{self as engine, Inventory};
use skillbench_engine::suite::{self, Format, Generated};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

pub fn suite(global: &Global, command: &SuiteCommand) -> Done {
    match command {
        SuiteCommand::Run { file, keeping } => run_file(global, file, &Keeping::new(global, keeping)),
        SuiteCommand::Init { file } => init(global, file),
        SuiteCommand::Check { file } => check(global, file),
        SuiteCommand::Generate { skillset_dir, output_dir, generate_only } => {
            generate(global, skillset_dir, output_dir, *generate_only)
        }
    }
}

fn run_file(global: &Global, file: &Path, keeping: &Keeping) -> Done {
    let (request, told) = suite::to_request(&suite::read(file).map_err(usage)?);
    told.iter().for_each(|sentence| output::warning(sentence));
    run::measure(global, request, keeping, None, &HashSet::new())
}

fn check(global: &Global, file: &Path) -> Done {
    let (request, told) = suite::to_request(&suite::read(file).map_err(usage)?);
    told.iter().for_each(|sentence| output::warning(sentence));
    let inventory = Inventory::take(&global.sources());
    let plan = engine::plan(&inventory, request).map_err(usage)?;
    plan.warnings.iter().for_each(|warning| output::warning(warning));
    let skipped = plan.cells.iter().filter(|cell| cell.skip.is_some()).count();
    let names: Vec<&str> = plan.models.iter().map(|model| model.id()).collect();
    output::say(&format!(
        "{}: {} cells of {}; {skipped} are skipped by a rule",
        file.display(),
        plan.cells.len(),
        names.join(", ")
    ));
    Ok(Exit::Good)
}

fn init(global: &Global, file: &Path) -> Done {
    let inventory = Inventory::take(&global.sources());
    write(&suite::starter(&inventory.catalog()), file)?;
    output::say(&format!("{} is written; `host suite run {}` runs it", file.display(), file.display()));
    Ok(Exit::Good)
}

fn write(suite: &suite::SuiteFile, file: &Path) -> Result<(), CommandError> {
    let told = |error: std::io::Error| failed(format!("{}: {error}", file.display()));
    if file.exists() {
        return Err(usage(format!("{} is there already, and is left as it is", file.display())));
    }
    let text = suite.to_text(Format::of(file)).map_err(told)?;
    std::fs::write(file, text).map_err(told)
}

fn generate(global: &Global, folder: &Path, output_dir: &Path, generate_only: bool) -> Done {
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
    std::fs::create_dir_all(output_dir).map_err(|error| failed(format!("{}: {error}", output_dir.display())))?;
    let mut files: Vec<PathBuf> = vec![];
    for Generated { file, suite } in &generated {
        let path = output_dir.join(file);
        let text = suite.to_text(Format::of(&path)).map_err(failed)?;
        std::fs::write(&path, text).map_err(|error| failed(format!("{}: {error}", path.display())))?;
        files.push(path);
    }
    output::say(&format!("{} suites are in {}", files.len(), output_dir.display()));
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
    let keeping = Keeping::beside(&global, &output_dir.join("results"));
    for file in &files {
        output::say(&format!("suite {}", file.display()));
        let ended = run_file(&global, file, &keeping)?;
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
