//! Rows by columns, such as models by hardware, with a number, a state or a reason in each cell.

use serde::{Deserialize, Serialize};

use super::heat_scale::Colouring;
use super::shared::area_style;
use crate::attributes::Attributes;
use crate::chart::{Head, Kind};
use crate::draw::Area;
use crate::draw::legend::{Entry, Legend, Swatch};
use crate::draw::scene::{Anchor, Scene, Style, Type};
use crate::draw::theme::Paint;
use crate::estimate::Estimate;
use crate::look::Look;
use crate::number::number;
use crate::text;
use crate::words::words;

/// A table of cells. Colour is by the ratio where any cell has one, and by the value otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HeatMap {
    pub head: Head,
    /// What the colours mean, such as "speed against cpu".
    pub scale: String,
    /// What a ratio below 1 and one above 1 are called, such as "slower" and "faster".
    pub below: String,
    pub above: String,
    pub rows: Vec<Heading>,
    pub columns: Vec<Heading>,
    /// By row, each from left to right. A cell that is not there was not run.
    pub cells: Vec<Vec<Cell>>,
}

/// What a row or a column is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Heading {
    pub label: String,
    pub sublabel: String,
    /// Set where it is hardware.
    pub hardware: String,
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cell {
    pub state: CellState,
    pub attributes: Attributes,
}

/// What is known of a cell. Failed, unavailable and not run are three different things.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum CellState {
    Value(CellValue),
    /// A value of emulated hardware: shown, but not coloured as if it were hardware.
    Emulated(CellValue),
    Failed {
        reason: String,
    },
    Unavailable {
        reason: String,
    },
    Unsupported,
    #[default]
    NotRun,
}

/// A value in words, and what its colour is made from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CellValue {
    pub text: String,
    pub value: Option<f64>,
    pub interval: Option<(f64, f64)>,
    /// Above 1 is better.
    pub ratio: Option<f64>,
    pub ratio_text: String,
}

const ROW: f64 = 32.0;
const LEAST_ROW: f64 = 18.0;
const TEXT: f64 = 11.0;
const SMALL: f64 = 9.0;
/// What is said in place of a number.
const QUIET: f64 = 9.5;

impl HeatMap {
    fn columns(&self) -> usize {
        self.cells.iter().map(Vec::len).fold(self.columns.len(), usize::max)
    }

    fn rows(&self) -> usize {
        self.rows.len().max(self.cells.len())
    }

    fn cell(&self, row: usize, column: usize) -> Cell {
        self.cells.get(row).and_then(|cells| cells.get(column)).cloned().unwrap_or_default()
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &CellValue> {
        self.cells.iter().flatten().filter_map(|cell| match &cell.state {
            CellState::Value(value) => Some(value),
            _ => None,
        })
    }

    fn row_label_width(&self, width: f64) -> f64 {
        let widths = self
            .rows
            .iter()
            .map(|row| text::width(&row.label, TEXT, false).max(text::width(&row.sublabel, 9.0, false)));
        (widths.fold(0.0, f64::max) + 10.0).min(0.34 * width)
    }

    fn cell_width(&self, width: f64) -> f64 {
        ((width - self.row_label_width(width)) / self.columns().max(1) as f64).min(150.0)
    }

    /// Whether the names of the columns stand upright, and the height they take.
    fn column_labels(&self, width: f64) -> (bool, f64) {
        let cell = self.cell_width(width) - 4.0;
        let widest = self.columns.iter().map(|column| text::width(&column.label, TEXT, false)).fold(0.0, f64::max);
        let lines = if self.columns.iter().any(|column| !column.sublabel.is_empty()) { 30.0 } else { 19.0 };
        let upright = widest > cell && cell < 72.0;
        (upright, if upright { widest.min(130.0) + 10.0 } else { lines } + 4.0)
    }

    fn states(&self, look: &Look) -> Legend {
        let words = words();
        let all: Vec<CellState> = (0..self.rows())
            .flat_map(|row| (0..self.columns()).map(move |column| (row, column)))
            .map(|(row, column)| self.cell(row, column).state)
            .collect();
        let has = |wanted: fn(&CellState) -> bool| all.iter().any(wanted);
        let plain = Style::fill(Paint::None).outlined(Paint::Grid, 1.0);
        let known: [(bool, Swatch, String); 5] = [
            (
                has(|state| matches!(state, CellState::Emulated(_))),
                Swatch::Box(plain.outlined(Paint::Soft, 1.2).dash("2 2")),
                words.emulated.clone(),
            ),
            (has(|state| matches!(state, CellState::Failed { .. })), Swatch::Box(plain), format!("✕ {}", words.failed)),
            (
                has(|state| matches!(state, CellState::Unavailable { .. })),
                Swatch::Box(plain),
                format!("– {}", words.unavailable),
            ),
            (
                has(|state| matches!(state, CellState::Unsupported)),
                Swatch::Box(plain),
                format!("∅ {}", words.unsupported),
            ),
            (
                has(|state| matches!(state, CellState::NotRun)),
                Swatch::Box(Style::fill(Paint::HatchGrid).outlined(Paint::Grid, 1.0)),
                words.not_run.clone(),
            ),
        ];
        let mut entries = Colouring::of(self).entries(self, look);
        entries.extend(known.into_iter().filter(|(there, ..)| *there).map(|(_, swatch, text)| Entry { swatch, text }));
        Legend::new(entries)
    }

    fn height(&self, width: f64, row: f64) -> f64 {
        self.states(&Look::default()).height(width) + self.column_labels(width).1 + row * self.rows() as f64
    }

    fn draw_headings(&self, scene: &mut Scene, look: &Look, table: Area, cell: f64, row: f64, body: Area) {
        let (upright, _) = self.column_labels(body.width);
        for (index, column) in self.columns.iter().enumerate() {
            let middle = table.x + cell * (index as f64 + 0.5);
            if upright {
                let label = text::fit(&column.label, 130.0, TEXT, false);
                scene.text_middle(middle, table.y - 8.0, Type::ink(TEXT.min(cell)).upward(), &label);
            } else {
                let two = !column.sublabel.is_empty();
                let label = text::fit(&column.label, cell - 4.0, TEXT, false);
                let up = if two { 19.0 } else { 8.0 };
                scene.text(middle, table.y - up, Type::ink(TEXT).at(Anchor::Middle), &label);
                let sublabel = text::fit(&column.sublabel, cell - 4.0, 9.0, false);
                scene.text(middle, table.y - 8.0, Type::soft(9.0).at(Anchor::Middle), &sublabel);
            }
            if !column.hardware.is_empty() {
                let bar = Area { x: middle - 0.5 * cell + 1.0, y: table.y - 4.0, width: cell - 2.0, height: 2.5 };
                let style = Style { stroke: Paint::None, ..area_style(look, &column.hardware, false) };
                scene.rect(bar.x, bar.y, bar.width, bar.height, style);
            }
        }
        let room = table.x - body.x - 10.0;
        for (index, heading) in self.rows.iter().enumerate() {
            let middle = table.y + row * (index as f64 + 0.5);
            let two = !heading.sublabel.is_empty() && row >= 26.0;
            let shift = if two { -5.5 } else { 0.0 };
            let label = text::fit(&heading.label, room, TEXT, false);
            scene.text_middle(table.x - 8.0, middle + shift, Type::ink(TEXT).at(Anchor::End), &label);
            if two {
                let sublabel = text::fit(&heading.sublabel, room, 9.0, false);
                scene.text_middle(table.x - 8.0, middle + 7.0, Type::soft(9.0).at(Anchor::End), &sublabel);
            }
        }
    }

    /// Whether most numbers have room in their usual size; they are all of one.
    fn numbers_fit(&self, room: f64) -> bool {
        let all = self.values().count();
        let fitting = self.values().filter(|value| text::width(&value.text, TEXT, false) <= room).count();
        10 * fitting >= 9 * all
    }

    fn draw_cell(
        &self,
        scene: &mut Scene,
        look: &Look,
        (colouring, size): (&Colouring, f64),
        state: &CellState,
        area: Area,
    ) {
        let plain = Style::fill(Paint::None).outlined(Paint::Grid, 1.0);
        let rect = |scene: &mut Scene, style| scene.rect(area.x, area.y, area.width, area.height, style);
        match state {
            CellState::Value(value) => {
                let colour = colouring.colour(look, value);
                rect(scene, colour.map_or(plain, |colour| Style::fill(Paint::Of(colour))));
                let ink = colour.map_or(Paint::Ink, |colour| Paint::Of(colour.legible_ink()));
                two_lines(scene, area, &value.text, &value.ratio_text, ink, size);
            }
            CellState::Emulated(value) => {
                let inner = area.without(0.8, 0.8, 0.8, 0.8);
                let style = Style::fill(Paint::None).outlined(Paint::Soft, 1.2).dash("3 2");
                scene.rect(inner.x, inner.y, inner.width, inner.height, style);
                two_lines(scene, area, &value.text, &value.ratio_text, Paint::Ink, size);
            }
            CellState::Failed { reason } => {
                rect(scene, plain);
                two_lines(
                    scene,
                    area,
                    &first_fitting(area, &format!("✕ {}", words().failed), "✕"),
                    reason,
                    Paint::Ink,
                    QUIET,
                );
            }
            CellState::Unavailable { reason } => {
                rect(scene, plain);
                let text = first_fitting(area, &format!("– {}", words().unavailable), "–");
                two_lines(scene, area, &text, reason, Paint::Soft, QUIET);
            }
            CellState::Unsupported => {
                rect(scene, plain);
                let text = first_fitting(area, &format!("∅ {}", words().unsupported), "∅");
                two_lines(scene, area, &text, "", Paint::Soft, QUIET);
            }
            CellState::NotRun => rect(scene, Style::fill(Paint::HatchGrid).outlined(Paint::Grid, 1.0)),
        }
    }
}

fn first_fitting(area: Area, long: &str, short: &str) -> String {
    if text::width(long, QUIET, false) <= area.width - 4.0 { long.to_owned() } else { short.to_owned() }
}

/// A line and a smaller one below it, as far as they fit.
fn two_lines(scene: &mut Scene, area: Area, first: &str, second: &str, paint: Paint, size: f64) {
    let (middle, room) = (area.x + area.width / 2.0, area.width - 4.0);
    let quiet = size == QUIET;
    let y = area.y + area.height / 2.0;
    // A number cut in the middle would be another number: one that does not fit is left to the title.
    let has_first = !first.is_empty() && text::width(first, size, false) <= room && area.height >= 10.0;
    let second = if quiet { text::fit_start(second, room, SMALL, false) } else { second.to_owned() };
    let fits = text::width(&second, SMALL, false) <= room && area.height >= 25.0 && second.chars().count() > 2;
    let centred = |size: f64| Type::ink(size).paint(paint).at(Anchor::Middle);
    if has_first {
        scene.text_middle(middle, if fits { y - 5.5 } else { y }, centred(size), first);
    }
    if fits {
        scene.text_middle(middle, if has_first { y + 7.0 } else { y }, centred(SMALL), &second);
    }
}

fn describe(state: &CellState) -> (String, &'static str) {
    let value = |value: &CellValue| {
        let (low, high) = value.interval.unzip();
        let interval = Estimate { value: value.value, low, high }.interval();
        let mut out =
            if value.text.is_empty() { value.value.map(number).unwrap_or_default() } else { value.text.clone() };
        if let Some((low, high)) = interval {
            out = format!("{out} ({} {} {} {})", words().interval, number(low), words().to, number(high));
        }
        if !value.ratio_text.is_empty() {
            out = format!("{out}, {}", value.ratio_text);
        }
        out
    };
    let because = |word: &str, reason: &str| {
        if reason.is_empty() { word.to_owned() } else { format!("{word}: {reason}") }
    };
    match state {
        CellState::Value(known) => (value(known), "measured"),
        CellState::Emulated(known) => (format!("{} ({})", value(known), words().emulated), "emulated"),
        CellState::Failed { reason } => (because(&words().failed, reason), "failed"),
        CellState::Unavailable { reason } => (because(&words().unavailable, reason), "unavailable"),
        CellState::Unsupported => (words().unsupported.clone(), "unsupported"),
        CellState::NotRun => (words().not_run.clone(), "not-run"),
    }
}

impl Kind for HeatMap {
    fn head(&self) -> &Head {
        &self.head
    }

    fn is_empty(&self) -> bool {
        self.rows() == 0 || self.columns() == 0
    }

    fn natural_height(&self, width: f64) -> f64 {
        self.height(width, ROW)
    }

    fn least_height(&self, width: f64) -> f64 {
        self.height(width, LEAST_ROW)
    }

    fn draw(&self, scene: &mut Scene, look: &Look, body: Area) {
        let legend = self.states(look);
        legend.draw(scene, body.x, body.y, body.width);
        let body = body.without(0.0, legend.height(body.width), 0.0, 0.0);
        let table = body.without(self.row_label_width(body.width), self.column_labels(body.width).1, 0.0, 0.0);
        let cell = self.cell_width(body.width);
        let row = (table.height / self.rows().max(1) as f64).clamp(8.0, 1.3 * ROW);
        self.draw_headings(scene, look, table, cell, row, body);
        let colouring = Colouring::of(self);
        let size = if self.numbers_fit(cell - 5.0) { TEXT } else { 8.0 };
        let none = Heading::default();
        for index in 0..self.rows() {
            for column in 0..self.columns() {
                let known = self.cell(index, column);
                let (down, across) = (self.rows.get(index).unwrap_or(&none), self.columns.get(column).unwrap_or(&none));
                let (what, state) = describe(&known.state);
                let title = super::shared::title(&[&down.label, &across.label], &what, false);
                let hardware = if across.hardware.is_empty() { &down.hardware } else { &across.hardware };
                let own = [("hardware", hardware.as_str()), ("state", state)];
                let area = Area {
                    x: table.x + cell * column as f64 + 0.5,
                    y: table.y + row * index as f64 + 0.5,
                    width: (cell - 1.0).max(1.0),
                    height: (row - 1.0).max(1.0),
                };
                scene.mark("mark", &own, &known.attributes, &title, |scene| {
                    self.draw_cell(scene, look, (&colouring, size), &known.state, area);
                });
            }
        }
    }
}
