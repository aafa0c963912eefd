//! What several kinds share: how a mark of hardware is filled, titled and explained.

use std::collections::BTreeSet;

use crate::draw::Area;
use crate::draw::axis::{Axis, Domain, TICK_TEXT};
use crate::draw::legend::{Entry, Legend, Swatch};
use crate::draw::scene::{Scene, Style};
use crate::draw::theme::Paint;
use crate::look::Look;
use crate::text;
use crate::words::words;

/// How an area of some hardware looks: full, or striped where it was emulated. The outline keeps it visible on any paper.
pub(crate) fn area_style(look: &Look, hardware: &str, emulated: bool) -> Style {
    let colour = look.colour(hardware);
    if emulated {
        Style::fill(Paint::Hatch(colour)).outlined(Paint::Of(colour), 1.0)
    } else {
        Style::fill(Paint::Of(colour)).outlined(Paint::Soft, 0.5)
    }
}

/// How a point of some hardware looks: full, or hollow where it was emulated.
pub(crate) fn point_style(look: &Look, hardware: &str, emulated: bool) -> Style {
    let colour = look.colour(hardware);
    if emulated {
        Style::fill(Paint::Ground).outlined(Paint::Of(colour), 1.5)
    } else {
        Style::fill(Paint::Of(colour)).outlined(Paint::Ground, 0.7)
    }
}

/// The state that a page can filter by.
pub(crate) fn state(has_value: bool, emulated: bool) -> &'static str {
    match (has_value, emulated) {
        (false, _) => "no-value",
        (true, true) => "emulated",
        (true, false) => "measured",
    }
}

/// "names, hardware: what", and that it was emulated.
pub(crate) fn title(names: &[&str], what: &str, emulated: bool) -> String {
    // What an earlier name says is not said again: a row's second line often is its hardware.
    let new = |index: &usize| {
        !names[*index].is_empty() && !names[..*index].iter().any(|name| names_hardware(name, names[*index]))
    };
    let mut out = (0..names.len()).filter(new).map(|index| names[index]).collect::<Vec<_>>().join(", ");
    if !what.is_empty() {
        if !out.is_empty() {
            out.push_str(": ");
        }
        out.push_str(what);
    }
    if emulated {
        out.push_str(" (");
        out.push_str(&words().emulated);
        out.push(')');
    }
    out
}

/// A mark that has a colour: its hardware, whether it was emulated, and the names that stand beside it.
pub(crate) type Coloured<'a> = (&'a str, bool, [&'a str; 2]);

/// Which colour is which hardware. Nothing where each row names its own, or where there is only one.
pub(crate) fn hardware_entries<'a>(look: &Look, marks: impl IntoIterator<Item = Coloured<'a>>) -> Vec<Entry> {
    let marks: Vec<Coloured<'a>> = marks.into_iter().filter(|(hardware, ..)| !hardware.is_empty()).collect();
    let kinds: BTreeSet<(&str, bool)> = marks.iter().map(|(hardware, emulated, _)| (*hardware, *emulated)).collect();
    let named = marks.iter().all(|(hardware, _, names)| names.iter().any(|name| names_hardware(name, hardware)));
    if named || (kinds.len() < 2 && !kinds.iter().any(|(_, emulated)| *emulated)) {
        return Vec::new();
    }
    let entries = kinds.into_iter().map(|(hardware, emulated)| Entry {
        swatch: Swatch::Box(area_style(look, hardware, emulated)),
        text: if emulated { format!("{hardware}, {}", words().emulated) } else { hardware.to_owned() },
    });
    entries.collect()
}

/// The same as a legend of its own.
pub(crate) fn hardware_legend<'a>(look: &Look, marks: impl IntoIterator<Item = Coloured<'a>>) -> Legend {
    Legend::new(hardware_entries(look, marks))
}

/// Whether one of the words of a name is the hardware's.
pub(crate) fn names_hardware(name: &str, hardware: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '-';
    name == hardware
        || name.split(|character: char| !is_part(character)).any(|word| word.eq_ignore_ascii_case(hardware))
}

/// How wide a margin at the right must be, so that text behind the ends of rows has room. `ends` are the values where the
/// texts begin, with the widths of the texts.
pub(crate) fn tail(room: f64, domain: Domain, logarithmic: bool, ends: &[(f64, f64)]) -> f64 {
    let place = |value: f64| if logarithmic && domain.low > 0.0 { value.max(domain.low).log10() } else { value };
    let (low, high) = (place(domain.low), place(domain.high));
    let span = high - low;
    let widest = ends.iter().map(|(end, width)| {
        let share = if span > 0.0 { ((place(*end) - low) / span).clamp(0.0, 1.0) } else { 1.0 };
        // The text needs `width` behind `share` of what is left.
        if share <= 0.05 { 0.0 } else { room - (room - width) / share }
    });
    widest.fold(0.0, f64::max)
}

/// About how many labels of numbers have room side by side.
pub(crate) fn ticks_in(width: f64) -> usize {
    (width / 70.0).clamp(2.0, 9.0) as usize
}

/// A domain that begins at 0, or ends there.
pub(crate) fn from_zero(domain: Option<Domain>) -> Domain {
    let domain = domain.unwrap_or(Domain { low: 0.0, high: 1.0 }).with(0.0);
    if domain.low == domain.high { Domain { low: 0.0, high: 1.0 } } else { domain }
}

/// An axis for values across an area of a body, with some room at its ends.
pub(crate) fn value_axis(domain: Domain, logarithmic: bool, area: Area, body: Area, unit: &str, room: f64) -> Axis {
    let ticks = ticks_in(area.width);
    let axis = if logarithmic { Axis::logarithmic(domain, ticks) } else { Axis::linear(domain, ticks) };
    // The margin of the paper may be used too.
    axis.padded(room).unit_at_end(unit, area.width, body.right() - area.right() + 10.0)
}

/// A thin line from the low to the high end of an interval, with caps.
pub(crate) fn interval(scene: &mut Scene, from: (f64, f64), to: (f64, f64), style: Style) {
    let cap = 2.5;
    scene.line(&[from, to], style);
    let level = (from.1 - to.1).abs() < (from.0 - to.0).abs();
    for (x, y) in [from, to] {
        let ends = if level { [(x, y - cap), (x, y + cap)] } else { [(x - cap, y), (x + cap, y)] };
        scene.line(&ends, style);
    }
}

/// Of labels at places along a line, those that have room: the first and the last before those between.
pub(crate) fn thinned(labels: Vec<(f64, String)>, place: impl Fn(f64) -> f64) -> Vec<(f64, String)> {
    let half = |label: &str| text::width(label, TICK_TEXT, false) / 2.0 + 4.0;
    let Some((last, _)) = labels.split_last() else {
        return labels;
    };
    let last_left = place(last.0) - half(&last.1);
    let count = labels.len();
    let mut right = f64::NEG_INFINITY;
    let mut kept = Vec::with_capacity(count);
    for (index, (value, label)) in labels.iter().enumerate() {
        let (middle, half) = (place(*value), half(label));
        let is_last = index + 1 == count;
        if (middle - half >= right && (is_last || middle + half <= last_left)) || (is_last && kept.is_empty()) {
            right = middle + half;
            kept.push((*value, label.clone()));
        }
    }
    kept
}
