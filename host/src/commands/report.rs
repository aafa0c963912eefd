//! `host report`: what runs tell.

use super::{CommandError, Done, Exit, failed};
use crate::cli::{Global, ReportArgs, ReportForm};
use crate::output;
use skillbench_charts::Look;
use skillbench_engine::registry::Registry;
use skillbench_report::Format;
use skillbench_report::sections::{self, About};
use skillbench_results::Stored;
use std::path::Path;

pub fn report(global: &Global, args: &ReportArgs) -> Done {
    let look = look(global)?;
    if args.dashboard {
        return dashboard(global, args, &look);
    }
    let chosen = args.which.read_for_report(global)?;
    let about = match (args.comparative, args.optimization) {
        (true, _) => About::Comparison,
        (_, true) => About::Optimization,
        _ => About::Run,
    };
    let page = sections::report(&chosen.stored, about, &look).map_err(failed)?;
    let format = super::forecast::form(global, args.output.as_deref());
    let text = match format {
        Format::Table | Format::Markdown => page.markdown(),
        Format::Html => page.html().map_err(failed)?,
        Format::Json => page.json(),
        Format::Csv => page.data.csv.clone(),
    };
    let page_file = chosen.folder.join("report.html");
    match (&args.output, format) {
        (Some(file), _) => output::to_file(file, text.as_bytes()).map_err(failed)?,
        (None, Format::Html) => output::to_file(&page_file, text.as_bytes()).map_err(failed)?,
        (None, _) => output::print(&text),
    }
    Ok(Exit::Good)
}

/// Pages over what is meant, by default over all.
fn dashboard(global: &Global, args: &ReportArgs, look: &Look) -> Done {
    let mut which = args.which.clone();
    which.all = which.is_open();
    let chosen = which.read(global)?;
    let folder = args.output.clone().unwrap_or_else(|| chosen.folder.join("dashboard"));
    let site = sections::dashboard(&chosen.stored, look).map_err(failed)?;
    for (file, page) in &site.pages {
        output::write(&folder.join(file), page.html().map_err(failed)?.as_bytes()).map_err(failed)?;
    }
    output::say(&format!("written: {} pages, begin at {}", site.pages.len(), folder.join("index.html").display()));
    Ok(Exit::Good)
}

/// The reports that belong into a run's folder.
pub fn beside(global: &Global, folder: &Path, stored: &Stored, forms: &[ReportForm]) -> Result<(), CommandError> {
    if forms.is_empty() {
        return Ok(());
    }
    let page = sections::report(stored, About::Run, &look(global)?).map_err(failed)?;
    for form in forms {
        let (name, text) = match form {
            ReportForm::Html => ("report.html", page.html().map_err(failed)?),
            ReportForm::Markdown => ("report.md", page.markdown()),
        };
        output::to_file(&folder.join(name), text.as_bytes()).map_err(failed)?;
    }
    Ok(())
}

/// Colours: those that everybody knows, and those that plugins' registry entries set.
pub fn look(global: &Global) -> Result<Look, CommandError> {
    Look::with_colours(&Registry::load(&global.sources()).colours()).map_err(failed)
}
