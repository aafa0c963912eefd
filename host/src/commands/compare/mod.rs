//! `host compare`: two runs, or two backends measured in turns. `stored` and `live` get the comparison, `show` tells it.

mod alerts;
mod live;
mod show;
mod stored;

pub use alerts::alerts;
pub use show::{exit, outcome, table};

use super::{Done, alert, failed};
use crate::cli::{AcrossArg, CompareArgs, FormatArg, Global};
use crate::output;
use skillbench_report::Format;
use skillbench_results::compared::Across;
use skillbench_stats::compare::Comparison;
use skillbench_stats::rules;

pub fn compare(global: &Global, args: &CompareArgs) -> Done {
    let comparison = match args.interleave {
        true => live::compare(global, args)?,
        false => stored::by_name(global, args)?,
    };
    tell(global, &comparison)?;
    alert::send(&args.alert, &alerts(&comparison, args.fail_on_regression));
    Ok(outcome(&comparison.cells, args.fail_on_regression))
}

/// Prints a comparison in the form that was asked for.
pub fn tell(global: &Global, comparison: &Comparison) -> Result<(), super::CommandError> {
    if matches!(global.format, FormatArg::Json) {
        let text = serde_json::to_string_pretty(comparison).map_err(failed)?;
        output::print(&(text + "\n"));
        return Ok(());
    }
    match global.format {
        FormatArg::Table => {
            let (table, reasons) = show::view(comparison);
            output::table(&table, Format::Table);
            output::notes(&reasons);
        }
        format => output::table(&table(comparison), format.into()),
    }
    if !global.quiet {
        comparison.notes.iter().for_each(|note| output::say(note));
        output::say(&show::sentence(comparison));
    }
    Ok(())
}

/// The smallest difference that is told, as a share.
fn effect(asked: Option<f64>, most: Option<f64>) -> f64 {
    asked.or(most).unwrap_or(rules().compare.effect)
}

/// What is compared although it is not the same.
fn across(asked: &[AcrossArg]) -> Across {
    let has = |what| asked.contains(&what);
    Across {
        machine: has(AcrossArg::Machine),
        model: has(AcrossArg::Model),
        precision: has(AcrossArg::Precision),
        plugin: has(AcrossArg::Plugin),
        options: has(AcrossArg::Options),
    }
}
