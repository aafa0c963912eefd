//! A page as Markdown, for a pull request: what the page tells, in tables.

use crate::page::{Decisions, Figure, Page, PageTable, Section, Tone};
use crate::{Cell, Format, Table};
use skillbench_record::shown::markdown::line;

/// No cell is wider; the problems have their reasons in full.
const WIDEST: usize = 80;
/// So many points stand in the open, so that a pull request stays readable.
const POINTS: usize = 16;

impl Page {
    /// The page as Markdown: what it decides first, the rest behind one click each. Charts, the tables behind them and the table of all
    /// cells are left to the page.
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}\n", line(&self.title));
        if let Some(headline) = self.decisions.as_ref().and_then(Decisions::headline) {
            text += &format!("\n**{}**\n", line(&headline));
        }
        if !self.verdict.is_empty() {
            text += &format!("\n{}\n", line(&self.verdict));
        }
        if !self.context.is_empty() {
            let context = self.context.iter().map(|(name, value)| format!("{}: {}", line(name), line(value)));
            text += &format!("\n{}\n", context.collect::<Vec<_>>().join(" · "));
        }
        text += &self.decisions.as_ref().map(Decisions::markdown).unwrap_or_default();
        text += &folded("Trust, warnings, and where these figures come from", &self.about());
        self.sections.iter().for_each(|section| text += &folded(&section.title, &section.markdown()));
        text
    }

    /// Badges, warnings and provenance.
    fn about(&self) -> String {
        let mut text = String::new();
        if !self.badges.is_empty() {
            text.push('\n');
            for badge in &self.badges {
                text += &format!("- **{}**: {}\n", line(&badge.text), line(&badge.why));
            }
        }
        if !self.notes.is_empty() {
            text.push('\n');
            self.notes.iter().for_each(|note| text += &format!("- {}\n", line(note)));
        }
        if !self.facts.is_empty() {
            let mut table = Table::new(["what", "value"]);
            for (name, value) in &self.facts {
                table.row([name.as_str().into(), value.as_str().into()]);
            }
            text += &format!("\n{}", table.render(Format::Markdown));
        }
        text
    }
}

/// A part that is opened by a click; nothing where it is empty.
fn folded(title: &str, text: &str) -> String {
    match text.trim().is_empty() {
        true => String::new(),
        false => format!("\n<details><summary>{}</summary>\n\n{}\n\n</details>\n", line(title), text.trim()),
    }
}

impl Decisions {
    /// A row for each point, the dearest wrong choice first; then a row for each hardware.
    fn markdown(&self) -> String {
        let view = self.view();
        let facet = |facet: &str| if facet.is_empty() { String::new() } else { format!(" ({facet})") };
        let mut points =
            Table::new(["model", "at", "best", "ahead of the next by", "how sure", "the worst choice costs"]);
        for row in &view.rows {
            let at = format!("{}{}", row.at, facet(&row.facet));
            points.row([
                Cell::text(&row.model),
                at.trim().into(),
                Cell::text(&row.best),
                Cell::text(&row.ahead),
                row.certainty.into(),
                Cell::text(&row.cost),
            ]);
        }
        let mut hardware = Table::new(["hardware", "wins", "ties", "mean cost (geometric)", "worst case"]);
        for row in &view.standings {
            hardware.row([
                Cell::text(format!("{}{}", row.hardware, facet(&row.facet))),
                Cell::text(&row.wins),
                Cell::count(row.ties as u64),
                Cell::text(&row.mean),
                Cell::text(&row.worst),
            ]);
        }
        let rest = Table { rows: points.rows.split_off(points.rows.len().min(POINTS)), ..points.clone() };
        let mut text = format!("\n{}", points.render(Format::Markdown));
        if !rest.rows.is_empty() {
            text += &folded(&format!("{} more points", rest.rows.len()), &rest.render(Format::Markdown));
        }
        if !hardware.rows.is_empty() {
            text += &format!("\n{}", hardware.render(Format::Markdown));
        }
        text
    }
}

impl Section {
    fn markdown(&self) -> String {
        // A chart's table is for whoever looks at the chart; all cells are in the page, and in the files.
        let figures: Vec<&Figure> = self
            .figures
            .iter()
            .filter(|figure| figure.stands_alone || (figure.svg.is_none() && !figure.counts))
            .collect();
        if figures.is_empty() && self.findings.is_empty() {
            return String::new();
        }
        let mut text = String::new();
        if !self.intro.is_empty() {
            text += &format!("\n{}\n", line(&self.intro));
        }
        if !self.findings.is_empty() {
            text.push('\n');
        }
        for finding in &self.findings {
            let advice = finding.advice.as_ref().map(|advice| format!(" {}", line(advice))).unwrap_or_default();
            let sign = if finding.tone == Tone::Bad { "**" } else { "" };
            text += &format!("- {sign}{}{sign}: {}{advice}\n", line(&finding.title), line(&finding.evidence));
        }
        figures.iter().for_each(|figure| text += &figure.markdown());
        text
    }
}

impl Figure {
    fn markdown(&self) -> String {
        let mut text = format!("\n### {}\n\n", line(&self.title));
        if !self.note.is_empty() {
            text += &format!("{}\n\n", line(&self.note));
        }
        match self.table.rows.is_empty() {
            true => text + "no data\n",
            false => text + &self.table.plain().render(Format::Markdown),
        }
    }
}

impl PageTable {
    /// Without what only a page shows. A reason stands in its cell.
    fn plain(&self) -> Table {
        let cell = |cell: &crate::page::PageCell| {
            let shown = match &cell.why {
                Some(why) => format!("{} ({})", cell.shown, why),
                None => cell.shown.clone(),
            };
            let mut cell = Cell::new(cell.value.clone(), shown);
            cell.shorten(WIDEST);
            cell
        };
        let rows = self.rows.iter().map(|row| row.cells.iter().map(cell).collect()).collect();
        Table { columns: self.columns.clone(), rows, ..Table::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{Badge, Finding, PageCell, PageRow};

    fn page() -> Page {
        let row = PageRow::new(&[], [PageCell::from("vit"), PageCell::from(Cell::none()).why("it | crashed\nat once")]);
        let figure = Figure {
            title: "Latency".into(),
            table: PageTable { columns: vec!["model".into(), "ms".into()], rows: vec![row] },
            ..Figure::default()
        };
        let finding = Finding {
            tone: Tone::Bad,
            title: "crashed".into(),
            evidence: "1 cell".into(),
            advice: Some("See its output.".into()),
            attributes: Default::default(),
        };
        Page {
            title: "A <run>".into(),
            verdict: "one of two".into(),
            badges: vec![Badge { text: "noisy".into(), tone: Tone::Warn, why: "busy".into() }],
            notes: vec!["look out".into()],
            facts: vec![("kernel".into(), "6.1".into())],
            sections: vec![Section {
                title: "Vision".into(),
                findings: vec![finding],
                figures: vec![figure, Figure { title: "Empty".into(), ..Figure::default() }],
                ..Section::default()
            }],
            ..Page::default()
        }
    }

    #[test]
    fn a_page_reads_as_markdown_with_reasons_in_their_cells() {
        let text = page().markdown();
        assert!(text.starts_with("# A &lt;run>\n\none of two\n\n<details><summary>"), "{text}");
        assert!(text.contains("| vit   | - (it \\| crashed at once) |"), "{text}");
        for part in [
            "- **noisy**: busy",
            "- look out",
            "- **crashed**: 1 cell See its output.",
            "<details><summary>Vision</summary>",
            "### Empty\n\nno data",
            "| kernel | 6.1   |",
        ] {
            assert!(text.contains(part), "'{part}' is not in:\n{text}");
        }
    }
}
