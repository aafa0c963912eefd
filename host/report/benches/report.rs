//! How long the page of a run of 1,000 cells takes, and how large it is. Run by a person, with the folder of a real run, whose cells
//! are taken again and again under other names until there are so many:
//! `cargo bench --profile release --workspace --bench report -- results/RUN`.

use skillbench_charts::Look;
use skillbench_report::sections::{self, About};
use skillbench_results::{Stored, read};
use std::path::PathBuf;
use std::time::Instant;

const CELLS: usize = 1_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let place = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let place = place.map(PathBuf::from).ok_or("name the folder of a run")?;
    let file = if place.is_dir() { place.join("journal.ndjson") } else { place };
    let mut recorded = read(&file)?;
    let (cells, samples) = (recorded.run.cells.clone(), recorded.samples.clone());
    if cells.is_empty() {
        return Err("the run has no cell".into());
    }
    recorded.run.cells.clear();
    recorded.samples.clear();
    for index in 0..CELLS {
        let (from, round) = (&cells[index % cells.len()], index / cells.len());
        let mut cell = from.clone();
        cell.index = index;
        cell.skill = format!("{}-{round}", from.skill);
        recorded.samples.extend(samples.iter().filter(|one| one.cell == from.index).cloned().map(|mut one| {
            one.cell = index;
            one
        }));
        recorded.run.cells.push(cell);
    }
    let count: usize = recorded.samples.iter().map(|one| one.values.len()).sum();
    for _ in 0..5 {
        let begun = Instant::now();
        let stored = Stored::from_recorded(std::slice::from_ref(&recorded))?;
        let framed = begun.elapsed().as_secs_f64();
        let page = sections::report(&stored, About::Run, &Look::default())?;
        let told = begun.elapsed().as_secs_f64();
        let html = page.html()?;
        let all = begun.elapsed().as_secs_f64();
        println!(
            "{CELLS} cells, {count} samples: {all:.2} s (frames {framed:.2}, questions and charts {:.2}, page {:.2}), {:.2} MB",
            told - framed,
            all - told,
            html.len() as f64 / 1e6
        );
    }
    Ok(())
}
