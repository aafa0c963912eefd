//! The shapes that stand for architectures.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

/// The shape of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Marker {
    Circle,
    Square,
    Diamond,
    TriangleUp,
    TriangleDown,
    TriangleLeft,
    TriangleRight,
    Star,
    Pentagon,
    Hexagon,
    Plus,
    Cross,
    Bowtie,
    Hourglass,
}

impl Marker {
    /// The corners around (0, 0) of a marker that looks as large as a circle of that radius; none for a circle.
    pub(crate) fn corners(self, radius: f64) -> Option<Vec<(f64, f64)>> {
        let r = radius;
        Some(match self {
            Self::Circle => return None,
            Self::Square => {
                let s = 0.88 * r;
                vec![(-s, -s), (s, -s), (s, s), (-s, s)]
            }
            Self::Diamond => ring(4, 1.25 * r, -90.0),
            Self::TriangleUp => ring(3, 1.3 * r, -90.0),
            Self::TriangleDown => ring(3, 1.3 * r, 90.0),
            Self::TriangleLeft => ring(3, 1.3 * r, 180.0),
            Self::TriangleRight => ring(3, 1.3 * r, 0.0),
            Self::Pentagon => ring(5, 1.12 * r, -90.0),
            Self::Hexagon => ring(6, 1.08 * r, 0.0),
            Self::Star => {
                let (outer, inner) = (ring(5, 1.4 * r, -90.0), ring(5, 0.58 * r, -54.0));
                outer.into_iter().zip(inner).flat_map(|(tip, notch)| [tip, notch]).collect()
            }
            Self::Plus => plus(r),
            Self::Cross => {
                let turn = (PI / 4.0).sin();
                plus(r).into_iter().map(|(x, y)| (turn * (x - y), turn * (x + y))).collect()
            }
            Self::Bowtie => vec![(-r, -r), (r, r), (r, -r), (-r, r)],
            Self::Hourglass => vec![(-r, -r), (r, -r), (-r, r), (r, r)],
        })
    }
}

fn ring(corners: u32, radius: f64, first_degrees: f64) -> Vec<(f64, f64)> {
    (0..corners)
        .map(|index| {
            let angle = first_degrees.to_radians() + 2.0 * PI * f64::from(index) / f64::from(corners);
            (radius * angle.cos(), radius * angle.sin())
        })
        .collect()
}

fn plus(radius: f64) -> Vec<(f64, f64)> {
    let (long, short) = (1.25 * radius, 0.42 * radius);
    vec![
        (-short, -long),
        (short, -long),
        (short, -short),
        (long, -short),
        (long, short),
        (short, short),
        (short, long),
        (-short, long),
        (-short, short),
        (-long, short),
        (-long, -short),
        (-short, -short),
    ]
}
