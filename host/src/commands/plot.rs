//! `host plot`: stored results as drawings.

use super::report::look;
use super::{CommandError, Done, Exit, failed, usage};
use crate::cli::{Global, ImageArg, PlotArgs};
use crate::output;
use skillbench_charts::{Theme, png};
use skillbench_report::Table;
use skillbench_report::plots::{self, PlotKind, UnknownPlot};
use skillbench_report::sections::{self, sources};
use skillbench_results::Stored;
use skillbench_session::which::Chosen;
use std::path::{Path, PathBuf};

/// How many pixels of a PNG one of the drawing becomes.
const SCALE: f64 = 2.0;

/// What is drawn, and how.
struct Drawing<'a> {
    kinds: Vec<PlotKind>,
    /// A kind that was asked for by name is drawn also where there is no data, and says so.
    asked: bool,
    images: &'a [ImageArg],
    width: u32,
}

pub fn plot(global: &Global, args: &PlotArgs) -> Done {
    if args.kind == ["list"] {
        let mut table = Table::new(["plot", "what"]);
        PlotKind::ALL.iter().for_each(|kind| table.row([kind.name().into(), kind.meaning().trim().into()]));
        output::table(&table, global.format.into());
        return Ok(Exit::Good);
    }
    let mut which = args.which.clone();
    if !args.comparison.is_empty() {
        which.run.clone_from(&args.comparison);
    }
    let Chosen { stored, folder, .. } = which.read(global)?;
    let kinds = kinds(args)?;
    let asked = !kinds.is_empty();
    let kinds = if asked { kinds } else { PlotKind::ALL.to_vec() };
    // A name without an ending is a folder's.
    let (file, named) = match &args.output {
        Some(output) if output.extension().is_none() => (None, Some(output)),
        output => (output.as_ref(), None),
    };
    if let Some(file) = file {
        return to_one_file(global, &stored, &kinds, asked, args.width, file);
    }
    let drawing = Drawing { kinds, asked, images: &args.file_format, width: args.width };
    let folder = args.output_dir.as_ref().or(named).cloned().unwrap_or_else(|| folder.join("plots"));
    let files = drawing.draw(global, &stored, &folder)?;
    let mut table = Table::new(["file"]);
    files.iter().for_each(|file| table.row([file.display().to_string().into()]));
    output::table(&table, global.format.into());
    Ok(Exit::Good)
}

/// A page with all plots, or a single plot.
fn to_one_file(global: &Global, stored: &Stored, kinds: &[PlotKind], asked: bool, width: u32, file: &Path) -> Done {
    let look = look(global)?;
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
    let bytes = match ending.as_str() {
        "html" | "htm" => sections::drawings(stored, kinds, asked, &look)
            .and_then(|page| Ok(page.html()?))
            .map_err(failed)?
            .into_bytes(),
        "svg" | "png" => {
            let mut plots = vec![];
            for kind in kinds {
                plots.extend(plots::draw(*kind, &sources(stored, *kind).map_err(failed)?).map_err(failed)?);
            }
            plots.retain(|plot| asked || !plot.chart.is_empty());
            let [plot] = plots.as_slice() else {
                let names: Vec<&str> = plots.iter().map(|plot| plot.name.as_str()).collect();
                return Err(usage(format!(
                    "{} holds one plot, and these are {}: take .html for all, --output-dir for a file each, or --kind",
                    file.display(),
                    names.join(", ")
                )));
            };
            let svg = plot.chart.svg(&look, plot.chart.natural_size(width), Theme::Light);
            if ending == "svg" { svg.into_bytes() } else { png(&svg, SCALE).map_err(failed)? }
        }
        _ => return Err(usage(format!("{}: expected a name that ends in .html, .svg or .png", file.display()))),
    };
    output::to_file(file, &bytes).map_err(failed)?;
    Ok(Exit::Good)
}

/// The kinds that are asked for, by name or by flag.
fn kinds(args: &PlotArgs) -> Result<Vec<PlotKind>, CommandError> {
    let mut kinds = vec![];
    for name in &args.kind {
        kinds.push(name.parse().map_err(|error: UnknownPlot| usage(error))?);
    }
    let flags = [
        (args.architecture_comparison, PlotKind::ArchitectureComparison),
        (args.hardware_efficiency_chart, PlotKind::Efficiency),
        (args.memory_scaling_chart, PlotKind::MemoryScaling),
        (!args.comparison.is_empty(), PlotKind::BeforeAfter),
    ];
    kinds.extend(flags.into_iter().filter(|(asked, _)| *asked).map(|(_, kind)| kind));
    Ok(kinds)
}

/// All plots of a run, in its folder.
pub fn beside(global: &Global, folder: &Path, stored: &Stored) -> Result<(), CommandError> {
    let images = [ImageArg::Svg, ImageArg::Png];
    let drawing = Drawing { kinds: PlotKind::ALL.to_vec(), asked: false, images: &images, width: 900 };
    let files = drawing.draw(global, stored, &folder.join("plots"))?;
    output::say(&format!("written: {} plots in {}", files.len(), folder.join("plots").display()));
    Ok(())
}

impl Drawing<'_> {
    fn draw(&self, global: &Global, stored: &Stored, folder: &Path) -> Result<Vec<PathBuf>, CommandError> {
        let look = look(global)?;
        let mut files = vec![];
        for kind in &self.kinds {
            for plot in plots::draw(*kind, &sources(stored, *kind).map_err(failed)?).map_err(failed)? {
                if plot.chart.is_empty() && !self.asked {
                    continue;
                }
                let name = &plot.name;
                let svg = plot.chart.svg(&look, plot.chart.natural_size(self.width), Theme::Light);
                for image in self.images {
                    let (ending, bytes) = match image {
                        ImageArg::Svg => ("svg", svg.clone().into_bytes()),
                        ImageArg::Png => ("png", png(&svg, SCALE).map_err(failed)?),
                    };
                    let file = folder.join(format!("{name}.{ending}"));
                    output::write(&file, &bytes).map_err(failed)?;
                    files.push(file);
                }
            }
        }
        Ok(files)
    }
}
