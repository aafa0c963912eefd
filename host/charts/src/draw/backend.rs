//! plotters draws its axes through this: a backend in tenths of a pixel that writes into a scene.

use std::convert::Infallible;

use plotters::style::RGBColor;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontTransform,
};

use super::scene::{Anchor, Scene, Style, Type};
use super::theme::Paint;
use crate::colour::Rgb;
use crate::text;

/// plotters counts in whole units; a tenth of a pixel is one.
pub(crate) const UNITS: f64 = 10.0;

pub(crate) struct SvgBackend<'a> {
    scene: &'a mut Scene,
}

impl<'a> SvgBackend<'a> {
    pub(crate) fn new(scene: &'a mut Scene) -> Self {
        Self { scene }
    }
}

/// Paints that depend on the theme go through plotters as colours that stand for them.
const ROLES: [(Paint, (u8, u8, u8)); 4] =
    [(Paint::Ink, (0, 0, 1)), (Paint::Soft, (0, 0, 2)), (Paint::Grid, (0, 0, 3)), (Paint::Ground, (0, 0, 4))];

pub(crate) fn to_plotters(paint: Paint) -> RGBColor {
    let (red, green, blue) = match paint {
        Paint::Of(Rgb(red, green, blue)) => (red, green, blue),
        role => ROLES.iter().find(|(known, _)| *known == role).map_or((0, 0, 1), |(_, stands)| *stands),
    };
    RGBColor(red, green, blue)
}

fn from_plotters(colour: BackendColor) -> Paint {
    let (red, green, blue) = colour.rgb;
    ROLES.iter().find(|(_, stands)| *stands == colour.rgb).map_or(Paint::Of(Rgb(red, green, blue)), |(role, _)| *role)
}

fn point((x, y): BackendCoord) -> (f64, f64) {
    (f64::from(x) / UNITS, f64::from(y) / UNITS)
}

fn line_style<S: BackendStyle>(style: &S) -> Style {
    let colour = style.color();
    Style::line(from_plotters(colour), f64::from(style.stroke_width()) / UNITS).opacity(colour.alpha)
}

fn shape_style<S: BackendStyle>(style: &S, fill: bool) -> Style {
    if fill { Style::fill(from_plotters(style.color())).opacity(style.color().alpha) } else { line_style(style) }
}

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

impl DrawingBackend for SvgBackend<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        let (width, height) = self.scene.size();
        ((width * UNITS) as u32, (height * UNITS) as u32)
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, at: BackendCoord, colour: BackendColor) -> Drawn {
        let (x, y) = point(at);
        let size = 1.0 / UNITS;
        self.scene.rect(x, y, size, size, Style::fill(from_plotters(colour)).opacity(colour.alpha));
        Ok(())
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.scene.line(&[point(from), point(to)], line_style(style));
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S, fill: bool) -> Drawn {
        let ((left, top), (right, bottom)) = (point(from), point(to));
        self.scene.rect(left, top, right - left, bottom - top, shape_style(style, fill));
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Drawn {
        let points: Vec<_> = path.into_iter().map(point).collect();
        self.scene.line(&points, line_style(style));
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(&mut self, centre: BackendCoord, radius: u32, style: &S, fill: bool) -> Drawn {
        let (x, y) = point(centre);
        self.scene.circle(x, y, f64::from(radius) / UNITS, shape_style(style, fill));
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, corners: I, style: &S) -> Drawn {
        let points: Vec<_> = corners.into_iter().map(point).collect();
        self.scene.polygon(&points, shape_style(style, true));
        Ok(())
    }

    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, at: BackendCoord) -> Drawn {
        let (x, y) = point(at);
        let size = style.size() / UNITS;
        let anchor = match style.anchor().h_pos {
            HPos::Left => Anchor::Start,
            HPos::Center => Anchor::Middle,
            HPos::Right => Anchor::End,
        };
        let down = match style.anchor().v_pos {
            VPos::Top => 0.82 * size,
            VPos::Center => 0.36 * size,
            VPos::Bottom => -0.1 * size,
        };
        let plain = Type::ink(size).paint(from_plotters(style.color())).at(anchor);
        match style.transform() {
            FontTransform::None => self.scene.text(x, y + down, plain, text),
            _ => self.scene.text(x + down, y, plain.upward(), text),
        }
        Ok(())
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        Ok((text::width(text, style.size(), false) as u32, style.size() as u32))
    }
}
