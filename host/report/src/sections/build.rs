//! Tables and charts by subject.

use super::rows::{Rows, attributed, now, page_table, placed};
use super::tables::{GROUP, RESULTS, SPEEDUPS, beside};
use super::{SectionError, WORDS, findings};
use crate::page::{Figure, PageTable, Section};
use crate::plots::{self, PlotKind, Sources};
use polars::prelude::*;
use skillbench_charts::{Look, Theme};
use skillbench_record::catalog::column;
use skillbench_results::Stored;
use skillbench_results::questions;
use std::collections::BTreeMap;

/// Charts in pages are drawn this wide; the page scales them.
const WIDTH: u32 = 960;

/// What is stored, and how it is to look.
pub struct Asked<'a> {
    pub stored: &'a Stored,
    pub look: &'a Look,
}

impl Asked<'_> {
    /// All sections of a report in which there is something.
    pub fn all(&self) -> Result<Vec<Section>, SectionError> {
        let folded = |section: Section| Section { folded: true, ..section };
        let sections = vec![
            self.problems()?,
            self.generation()?,
            self.hardware()?,
            self.drawn("scaling", &[PlotKind::BatchScaling, PlotKind::SequenceScaling])?,
            self.drawn("memory", &[PlotKind::MemoryByHardware, PlotKind::Memory, PlotKind::MemoryScaling])?,
            folded(self.drawn("init", &[PlotKind::InitPhases])?),
            folded(self.advice()?),
            folded(self.families()?),
            folded(self.relative()?),
            folded(self.drawn("distribution", &[PlotKind::Distribution])?),
            folded(self.energy()?),
            folded(self.drawn("efficiency", &[PlotKind::Efficiency])?),
            folded(self.results()?),
        ];
        Ok(with_content(sections))
    }

    pub fn comparison(&self) -> Result<Vec<Section>, SectionError> {
        let sections = vec![self.before()?, self.relative()?, self.groups()?, self.problems()?, self.results()?];
        Ok(with_content(sections))
    }

    pub fn optimization(&self) -> Result<Vec<Section>, SectionError> {
        let scaling = [PlotKind::BatchScaling, PlotKind::SequenceScaling];
        let sections = vec![
            self.advice()?,
            self.drawn("efficiency", &[PlotKind::Efficiency])?,
            self.drawn("scaling", &scaling)?,
            self.drawn("init", &[PlotKind::InitPhases])?,
            self.problems()?,
        ];
        Ok(with_content(sections))
    }

    /// A section of charts, each with its table.
    pub fn drawn(&self, id: &str, kinds: &[PlotKind]) -> Result<Section, SectionError> {
        let mut section = section(id);
        for kind in kinds {
            section.figures.extend(self.figures(*kind)?);
        }
        Ok(section)
    }

    /// What a plot draws. Where there is nothing to draw, there is no figure.
    pub fn figures(&self, kind: PlotKind) -> Result<Vec<Figure>, SectionError> {
        self.figures_of(kind, false)
    }

    /// The same; where `even_empty` says so, with a chart that says why there is nothing to draw.
    pub fn figures_of(&self, kind: PlotKind, even_empty: bool) -> Result<Vec<Figure>, SectionError> {
        let mut figures = vec![];
        let plots = plots::draw(kind, &sources(self.stored, kind)?)?;
        // One value is told by a table; a chart of it compares nothing.
        let says = |plot: &plots::Plot| !plot.chart.is_empty() && plot.table.rows.len() > 1;
        for mut plot in plots.into_iter().filter(|plot| even_empty || says(plot)) {
            // The page has the title as a heading of its own.
            let head = plot.chart.head_mut();
            let title = head.title.clone();
            head.titled = true;
            head.id = Some(plot.name.clone());
            figures.push(Figure {
                title,
                svg: Some(plot.chart.svg(self.look, plot.chart.natural_size(WIDTH), Theme::Page)),
                table: attributed(plot.table),
                ..Figure::default()
            });
        }
        Ok(figures)
    }

    fn hardware(&self) -> Result<Section, SectionError> {
        let mut section = section("hardware");
        section.findings = findings::left_out(&self.stored.runs);
        section.figures = self.figures(PlotKind::ModelHeatMap)?;
        let states = questions::compatibility(self.stored.cells.clone())?;
        let columns = [
            (column::MODEL_ID, "model"),
            ("hardware", "hardware"),
            ("state", "state"),
            ("measured", "measured"),
            ("remote", "remote"),
            (column::EMULATED, column::EMULATED),
            ("unverified", "unverified"),
            (column::IMPLAUSIBLE, column::IMPLAUSIBLE),
            ("failed", "failed"),
            ("unsupported", "unsupported"),
            ("unavailable", "unavailable"),
            ("skipped", "skipped"),
        ];
        // Reasons stand below the problems, once each.
        let states = states.drop(column::REASON)?;
        section.figures.push(tabled("What ran where", "How many cells ended how.", page_table(&states, &columns)));
        Ok(section)
    }

    /// Latency and throughput, hardware beside hardware, a table for each family.
    pub fn families(&self) -> Result<Section, SectionError> {
        let mut section = section("families");
        section.figures = self.figures(PlotKind::HardwareComparison)?;
        let frame = now(self.stored.cells.clone())?;
        let rows = Rows(&frame);
        let mut families: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for row in 0..rows.len() {
            families.entry(rows.text(row, column::FAMILY).unwrap_or("no family")).or_default().push(row);
        }
        let figures = [
            (column::LATENCY_MEDIAN_MS, "median latency in ms"),
            (column::THROUGHPUT_SAMPLES_PER_SEC, "items per second"),
        ];
        for (family, of) in &families {
            for (column, what) in figures {
                let table = beside(&rows, of, column);
                if !table.rows.is_empty() {
                    section.figures.push(tabled(&format!("{family}: {what}"), "", table));
                }
            }
        }
        Ok(section)
    }

    pub fn relative(&self) -> Result<Section, SectionError> {
        let mut section = self.drawn("relative", &[PlotKind::Speedup])?;
        let speedups = questions::speedups(self.stored.cells.clone())?;
        if speedups.height() > 0 {
            let note = "On common work every hardware did the same; what it has may leave out what it is slow at.";
            section.figures.push(tabled("Speed-ups", note, page_table(&speedups, &SPEEDUPS)));
        }
        Ok(section)
    }

    /// Tokens: the first, each after it, and how many a second, hardware by hardware.
    fn generation(&self) -> Result<Section, SectionError> {
        let mut section = section("generation");
        let frame = now(self.stored.cells.clone())?;
        let made = frame.lazy().filter(col(column::TIME_PER_OUTPUT_TOKEN_MS).is_not_null());
        // A rate stands beside the median that it comes from.
        let rate = lit(1000.0) / col(column::TIME_PER_OUTPUT_TOKEN_MS);
        let made = made.with_column(rate.alias("tokens_per_sec")).collect()?;
        if made.height() > 0 {
            let columns = [
                (column::MODEL_ID, "model"),
                ("hardware", "hardware"),
                (column::AXES, column::AXES),
                (column::PRECISION, column::PRECISION),
                (column::THREADS, column::THREADS),
                (column::TRUST, column::TRUST),
                (column::TIME_TO_FIRST_TOKEN_MS, "first token (ms)"),
                (column::TIME_TO_FIRST_TOKEN_CI95_LOW_MS, "95% from"),
                (column::TIME_TO_FIRST_TOKEN_CI95_HIGH_MS, "to"),
                (column::TIME_PER_OUTPUT_TOKEN_MS, "each token after it (ms)"),
                (column::TIME_PER_OUTPUT_TOKEN_CI95_LOW_MS, "95% from"),
                (column::TIME_PER_OUTPUT_TOKEN_CI95_HIGH_MS, "to"),
                ("tokens_per_sec", "tokens/s"),
                (column::PREFILL_TOKENS_PER_SEC, "prompt tokens/s (mean)"),
                (column::STABLE, "settled"),
            ];
            let note = "Medians; tokens/s is 1000 over the median time of a token.";
            section.figures.push(tabled("Tokens by hardware", note, page_table(&made, &columns)));
        }
        Ok(section)
    }

    fn energy(&self) -> Result<Section, SectionError> {
        let mut section = section("energy");
        let frame = placed(self.stored.cells.clone())?;
        let measured = frame.lazy().filter(col(column::ENERGY_J_PER_ITEM).is_not_null()).collect()?;
        if measured.height() > 0 {
            let columns = [
                (column::MODEL_ID, "model"),
                ("hardware", "hardware"),
                (column::BENCHMARK, column::BENCHMARK),
                (column::AXES, column::AXES),
                (column::PRECISION, column::PRECISION),
                (column::ENERGY_J_PER_ITEM, "J per item"),
            ];
            section.figures.push(tabled("Energy for each item", "", page_table(&measured, &columns)));
        }
        Ok(section)
    }

    pub fn groups(&self) -> Result<Section, SectionError> {
        let mut section = self.drawn("groups", &[PlotKind::ArchitectureComparison, PlotKind::CategoryComparison])?;
        type Question = fn(DataFrame) -> PolarsResult<DataFrame>;
        let groups: [(&str, &str, Question); 6] = [
            ("model", column::MODEL_ID, questions::by_model),
            (column::FAMILY, column::FAMILY, questions::by_family),
            (column::CATEGORY, column::CATEGORY, questions::by_category),
            ("architecture", column::ARCHITECTURE_TYPE, questions::by_architecture),
            (column::TASK, column::TASK, questions::by_task),
            ("size", "size", questions::by_size),
        ];
        for (name, column, question) in groups {
            let frame = question(self.stored.cells.clone())?;
            let columns: Vec<_> = std::iter::once((column, name)).chain(GROUP).collect();
            if frame.height() > 0 {
                section.figures.push(tabled(&format!("By {name}"), "", page_table(&frame, &columns)));
            }
        }
        let outliers = questions::outlier_models(self.stored.cells.clone())?;
        let far = outliers.lazy().filter(col("outlier").eq(lit(true))).collect()?;
        if far.height() > 0 {
            section.figures.push(tabled(
                "Models that stand out",
                "Far from the middle of their hardware, benchmark and precision.",
                page_table(&far, &named(&far)),
            ));
        }
        Ok(section)
    }

    /// The first run against the last, where there are two.
    fn before(&self) -> Result<Section, SectionError> {
        if self.stored.runs.len() < 2 {
            return Ok(section("before"));
        }
        let mut section = self.drawn("before", &[PlotKind::BeforeAfter])?;
        section.figures.iter_mut().for_each(|figure| figure.stands_alone = true);
        Ok(section)
    }

    fn problems(&self) -> Result<Section, SectionError> {
        let mut section = section("problems");
        section.findings = findings::problems(&self.stored.cells)?;
        section.findings.extend(findings::fixes(&self.stored.cells)?);
        Ok(section)
    }

    pub fn advice(&self) -> Result<Section, SectionError> {
        let mut section = self.drawn("advice", &[PlotKind::Opportunities])?;
        let opportunities = questions::opportunities(self.stored.cells.clone())?;
        section.findings = findings::advice(&opportunities);
        if opportunities.height() > 0 && section.figures.is_empty() {
            section.figures.push(tabled("All of it", "", page_table(&opportunities, &named(&opportunities))));
        }
        Ok(section)
    }

    fn results(&self) -> Result<Section, SectionError> {
        let mut section = section("results");
        let frame = placed(self.stored.cells.clone())?;
        let several = self.stored.runs.len() > 1;
        let columns: Vec<_> = RESULTS.into_iter().filter(|(column, _)| several || *column != column::RUN).collect();
        let table = Figure { counts: true, ..tabled("All cells", "", page_table(&frame, &columns)) };
        section.figures.push(table);
        Ok(section)
    }
}

/// What plots are drawn from. Of several runs the first is what came before.
pub fn sources(stored: &Stored, kind: PlotKind) -> Result<Sources, PolarsError> {
    let runs: Vec<&str> = stored.runs.iter().map(|run| run.run_id.as_str()).collect();
    let of = |run: &str| stored.cells.clone().lazy().filter(col(column::RUN).eq(lit(run))).collect();
    let samples = stored.samples.clone();
    Ok(match runs.as_slice() {
        [] => Sources { cells: stored.cells.clone(), samples, ..Sources::default() },
        [run] => Sources { cells: stored.cells.clone(), samples, before: None, source: format!("run {run}") },
        [first, .., last] if kind == PlotKind::BeforeAfter => {
            Sources { cells: of(last)?, before: Some(of(first)?), samples, source: format!("{first}, then {last}") }
        }
        [first, .., last] => {
            let source = format!("{} runs, {first} to {last}", runs.len());
            Sources { cells: stored.cells.clone(), samples, before: None, source }
        }
    })
}

/// A section with its words and nothing in it yet.
pub fn section(id: &str) -> Section {
    let words = WORDS.section.get(id);
    let text = |pick: fn(&super::SectionWords) -> &String| words.map(pick).cloned().unwrap_or_default();
    Section {
        id: id.into(),
        title: text(|words| &words.title),
        intro: text(|words| &words.intro),
        ..Section::default()
    }
}

/// Those in which there is something.
pub fn with_content(sections: Vec<Section>) -> Vec<Section> {
    sections.into_iter().filter(|section| !section.figures.is_empty() || !section.findings.is_empty()).collect()
}

pub fn tabled(title: &str, note: &str, table: PageTable) -> Figure {
    Figure { title: title.into(), note: note.into(), table, ..Figure::default() }
}

/// Every column of a frame under its own name.
pub fn named(frame: &DataFrame) -> Vec<(&str, &str)> {
    frame.columns().iter().map(|column| (column.name().as_str(), column.name().as_str())).collect()
}
