//! `host predict`: predictions for unmeasured cells. `table`: the forms of them. `curve`: a drawing. `evaluation`: how
//! far predictions are off.

mod curve;
mod evaluation;
pub(super) mod table;

use super::forecast::{bench_of, form, models_asked, read, tell_other_machines};
use super::{Done, Exit, failed, usage};
use crate::cli::{Global, PredictArgs};
use crate::output;
use skillbench_engine::skill::Tell;
use skillbench_predict::{Quantity, least_models, rule};
use skillbench_report::Format;
use skillbench_session::forecast::{Answer, Bench, Hardware, Models, answers};
use std::collections::BTreeSet;

pub fn predict(global: &Global, args: &PredictArgs) -> Done {
    if args.about.model.is_empty() && !args.generate_matrix && !args.evaluate {
        return Err(usage("name a model with --model, or ask for --generate-matrix of all, or for --evaluate"));
    }
    let cells = read(&args.about.stored.whole(global)?)?;
    let mut inventory = global.inventory();
    if !global.quiet {
        inventory.tell = Tell(output::say);
    }
    let mut models = Models::new(inventory.catalog());
    let asked = match args.evaluate {
        true => vec![],
        false => models_asked(&mut models, &args.about, &cells, args.generate_matrix)?,
    };
    let bench = bench_of(&cells, &args.about, &models, &inventory, global)?;
    if !global.quiet {
        bench.hardware.iter().for_each(|hardware| output::say(&about(hardware)));
        if cells.beside > 0 {
            output::say(&format!("{} cells that others ran beside teach nothing", cells.beside));
        }
    }
    if bench.hardware.is_empty() {
        tell_other_machines(&bench.machine, &cells.labelled());
    }
    if bench.hardware.is_empty() && bench.unmeasured.is_empty() {
        output::say(&format!("not enough data: no such cell is measured on {}", bench.machine_label));
        output::say("measure some models first: host run --models-set key --bench inference");
        return Ok(Exit::NoVerdict);
    }
    if let Some(file) = &args.training {
        // It is for programs, whatever form the answer has.
        let form = if file.extension().is_some_and(|ending| ending == "json") { Format::Json } else { Format::Csv };
        output::to_file(file, table::training(&bench).render(form).as_bytes()).map_err(failed)?;
    }
    if args.evaluate {
        return evaluation::evaluate(global, &bench, args.output.as_deref());
    }
    let answers = answers(&bench, &cells, &asked);
    let exit = verdict(&answers, &args.about.hardware, args.generate_matrix);
    let form = form(global, args.output.as_deref());
    let text = match args.generate_matrix {
        true => table::matrix(&answers, form, args.output.as_deref()),
        false => output::drawn(&table::list(&answers, form), form, args.output.as_deref()),
    };
    match &args.output {
        None => output::print(&text),
        // A file of gaps would look like an answer to whatever reads it.
        Some(file) if !answers.iter().any(Answer::is_told) => {
            output::say(&format!("not enough data: nothing can be told, and {} is not written", file.display()));
        }
        Some(file) => output::to_file(file, text.as_bytes()).map_err(failed)?,
    }
    if let Some(file) = &args.plot {
        curve::draw(global, &answers, &bench, file)?;
    }
    if !global.quiet {
        hint(&bench, &models, &answers);
    }
    Ok(exit)
}

/// Of a matrix something has to be told. Of what was named, the latency at each point: on all hardware that was named, or else on
/// some.
fn verdict(answers: &[Answer<'_>], hardware: &[String], matrix: bool) -> Exit {
    let asked: Vec<&Answer<'_>> = answers.iter().filter(|answer| answer.quantity == Quantity::Latency).collect();
    let told = match (matrix, hardware.is_empty()) {
        (true, _) => asked.iter().any(|answer| answer.is_told()),
        (false, false) => !asked.is_empty() && asked.iter().all(|answer| answer.is_told()),
        (false, true) => {
            let same =
                |one: &&Answer<'_>, two: &&Answer<'_>| one.asked.model == two.asked.model && one.axes == two.axes;
            let mut points = asked.chunk_by(same);
            !asked.is_empty() && points.all(|point| point.iter().any(|answer| answer.is_told()))
        }
    };
    if told { Exit::Good } else { Exit::NoVerdict }
}

/// What a prediction on it stands on.
fn about(hardware: &Hardware) -> String {
    let mut text = format!("{}: {} cells of {} models", hardware.describe(), hardware.taught, hardware.models);
    let left = hardware.cells.len() - hardware.taught;
    if left > 0 {
        text += &format!(" ({left} more are emulated, unverified or remote, or nobody counted their work)");
    }
    if hardware.waited > 0 {
        text += &format!("; in {} of them threads waited for a processor, which widens the intervals", hardware.waited);
    }
    if let Some(found) = hardware.efficiency().filter(|_| hardware.models >= least_models(rule().level)) {
        let of = |found: f64, peak: Option<f64>, unit: &str| match peak {
            Some(peak) => format!("{:.3} G{unit} of {:.3} measured at most", found / 1e9, peak / 1e9),
            None => format!("{:.3} G{unit} (fitted; no peak is measured: host run --bench roofline)", found / 1e9),
        };
        text += &format!(
            "; as if {}, {}, {:.3} ms a kernel, {:.3} ms an inference",
            of(found.flops_per_s, hardware.peaks.flops_per_s, "FLOP/s"),
            of(found.bytes_per_s, hardware.peaks.bytes_per_s, "B/s"),
            found.kernel_ms,
            found.inference_ms
        );
    }
    text
}

/// What to measure so that more can be told.
fn hint(bench: &Bench, models: &Models, answers: &[Answer<'_>]) {
    let unmeasured = bench.unmeasured.iter().map(|name| (name.as_str(), name.clone(), BTreeSet::new()));
    let few = bench.hardware.iter().filter(|hardware| {
        let mut own = answers.iter().filter(|answer| answer.hardware.is_some_and(|of| of.place == hardware.place));
        own.any(|answer| answer.predicted.as_ref().is_err_and(|why| FEW.contains(&why.short.as_str())))
    });
    let few = few.map(|hardware| {
        let measured = hardware.cells.iter().map(|cell| cell.model.as_str()).collect::<BTreeSet<_>>();
        (hardware.name.as_str(), hardware.as_arguments(), measured)
    });
    let mut told = BTreeSet::new();
    for (name, arguments, measured) in unmeasured.chain(few) {
        let family = answers.first().map_or("", |answer: &Answer<'_>| answer.asked.family.as_str());
        let names = models.to_measure(&measured, family, MORE);
        if told.insert(name) && !names.is_empty() {
            let names = names.join(",");
            output::say(&format!(
                "not enough data on {name}; measure more: host run --plugin {arguments} --bench inference --model {names}"
            ));
        }
    }
}

/// So many models more are worth measuring at once.
const MORE: usize = 10;
/// What more models may mend.
const FEW: [&str; 3] = ["too few models", "family not measured", "interval too wide"];
