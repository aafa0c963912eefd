//! What the colours of a heat map mean.

use plotters::style::RGBColor;
use plotters::style::colors::colormaps::{ColorMap, DerivedColorMap};

use super::heat_map::{CellValue, HeatMap};
use crate::colour::Rgb;
use crate::draw::legend::Entry;
use crate::draw::theme::Paint;
use crate::estimate::drawable;
use crate::look::Look;
use crate::number::number;

pub(super) enum Colouring {
    /// The ratio's logarithm to the base of 2 that has the strongest colour.
    Ratio(f64),
    /// The logarithms, or the values, between which colours run.
    Value { low: f64, high: f64, logarithmic: bool },
    /// No cell has a number.
    None,
}

fn ratio(value: &CellValue) -> Option<f64> {
    drawable(value.ratio).filter(|ratio| *ratio > 0.0)
}

impl Colouring {
    pub(super) fn of(map: &HeatMap) -> Self {
        let ratios: Vec<f64> = map.values().filter_map(ratio).map(|ratio| ratio.log2().abs()).collect();
        if !ratios.is_empty() {
            return Self::Ratio(ratios.into_iter().fold(1.0, f64::max).ceil().min(5.0));
        }
        let values: Vec<f64> = map.values().filter_map(|value| drawable(value.value)).collect();
        let logarithmic = values.iter().all(|value| *value > 0.0);
        let scaled = values.iter().map(|value| if logarithmic { value.log10() } else { *value });
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = scaled.fold(ends, |(low, high), value| (low.min(value), high.max(value)));
        if values.is_empty() { Self::None } else { Self::Value { low, high, logarithmic } }
    }

    pub(super) fn colour(&self, look: &Look, value: &CellValue) -> Option<Rgb> {
        match self {
            Self::None => None,
            Self::Ratio(most) => {
                let share = (ratio(value)?.log2() / most).clamp(-1.0, 1.0);
                Some(between(&look.scales().diverging, 0.5 + 0.5 * share))
            }
            Self::Value { low, high, logarithmic } => {
                let value = drawable(value.value)?;
                let scaled = if *logarithmic { value.log10() } else { value };
                let share = if high > low { (scaled - low) / (high - low) } else { 0.5 };
                Some(between(&look.scales().sequential, share))
            }
        }
    }

    /// The colours at the ends and in the middle, with their numbers.
    pub(super) fn entries(&self, map: &HeatMap, look: &Look) -> Vec<Entry> {
        let entry = |colour: Rgb, text: String| Entry::filled(Paint::Of(colour), text.trim());
        match *self {
            Self::None => Vec::new(),
            Self::Ratio(most) => {
                let colours = &look.scales().diverging;
                let times = 2f64.powf(most);
                let is_beyond = |ratio: f64| ratio > times * 1.0001 || ratio < 0.9999 / times;
                let beyond = map.values().filter_map(ratio).any(is_beyond);
                let (more, less) = if beyond { ("≥ ", "≤ ") } else { ("", "") };
                vec![
                    entry(between(colours, 0.0), format!("{less}1/{}× {}", number(times), map.below)),
                    entry(between(colours, 0.5), format!("1× {}", map.scale)),
                    entry(between(colours, 1.0), format!("{more}{}× {}", number(times), map.above)),
                ]
            }
            Self::Value { low, high, logarithmic } => {
                let value = |place: f64| number(if logarithmic { 10f64.powf(place) } else { place });
                let colours = &look.scales().sequential;
                if low == high {
                    return vec![entry(between(colours, 0.5), format!("{} {}", value(low), map.scale))];
                }
                vec![
                    entry(between(colours, 0.0), value(low)),
                    entry(between(colours, 1.0), format!("{} {}", value(high), map.scale)),
                ]
            }
        }
    }
}

fn between(colours: &[Rgb], share: f64) -> Rgb {
    let points: Vec<RGBColor> = colours.iter().map(|Rgb(red, green, blue)| RGBColor(*red, *green, *blue)).collect();
    if points.len() < 2 {
        return colours.first().copied().unwrap_or(Rgb(0xcc, 0xcc, 0xcc));
    }
    let RGBColor(red, green, blue) = DerivedColorMap::new(&points).get_color(share.clamp(0.0, 1.0));
    Rgb(red, green, blue)
}
