//! `host audit RUN`: cells of a stored run measured again with other seeds, and which of its numbers stood.

use super::persist::Persist;
use super::{Done, Exit, run};
use crate::cli::{AuditArgs, Global};
use crate::output;
use crate::screen::Screen;
use skillbench_record::{machine, paths};
use skillbench_report::{Cell, Table};
use skillbench_session::audit::{Number, request};
use skillbench_session::run::recorded;
use skillbench_stats::compare::Noise;

pub fn audit(global: &Global, args: &AuditArgs) -> Done {
    let recorded = recorded(&args.results_dir, &args.run).map_err(run::ended)?;
    let Some(request) = request(&recorded, args.cells, args.seed) else {
        output::say("the run has no figure that could be measured again");
        return Ok(Exit::NoVerdict);
    };
    let named = run::options(&args.option)?;
    let seed = request.seed.unwrap_or_default();
    let persist = Persist::repeating(&args.results_dir, &args.lock);
    let mut session = persist.session();
    let noise = Noise::load(&paths::data(), &machine::this());
    let inventory = global.inventory();
    let mut screen = Screen::new(global);
    let audited = session.audit(&inventory, &recorded, request, &named, &noise, &mut |event| screen.on(event));
    drop(screen);
    let Some(numbers) = audited.map_err(run::ended)? else { return Ok(Exit::Stopped) };
    output::table(&table(&numbers), global.format.into());
    let stood = numbers.iter().filter(|number| number.fails.is_none()).count();
    output::say(&format!("{stood} of {} numbers stood, with seed {seed}", numbers.len()));
    Ok(if stood == numbers.len() { Exit::Good } else { Exit::Broken })
}

fn table(numbers: &[Number]) -> Table {
    let mut table =
        Table::new(["model", "plugin", "benchmark", "axes", "before_ms", "again_ms", "ratio", "stands", "why_not"])
            .least(["benchmark", "before_ms", "again_ms", "axes"]);
    for number in numbers {
        let name = &number.cell;
        table.row([
            Cell::text(&name.model),
            Cell::text(&name.plugin),
            Cell::text(&name.benchmark),
            name.axes.to_string().into(),
            Cell::number(number.before),
            Cell::maybe(number.again, Cell::number),
            Cell::maybe(number.again, |again| Cell::number(again / number.before)),
            if number.fails.is_none() { "yes" } else { "no" }.into(),
            Cell::maybe(number.fails.clone(), Cell::from),
        ]);
    }
    table
}
