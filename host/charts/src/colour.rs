//! Colours as red, green and blue, and how light they are.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ChartError;

/// A colour, written `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// Reads `#rrggbb`; `id` is whose colour it is, for the message.
    pub fn parse(id: &str, text: &str) -> Result<Self, ChartError> {
        let wrong = || ChartError::Colour { id: id.to_owned(), colour: text.to_owned() };
        let digits = text.trim().strip_prefix('#').ok_or_else(wrong)?;
        if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let number = u32::from_str_radix(digits, 16).map_err(|_| wrong())?;
        Ok(Self((number >> 16) as u8, (number >> 8) as u8, number as u8))
    }

    /// Relative luminance, 0 for black and 1 for white.
    pub fn luminance(self) -> f64 {
        let part = |byte: u8| {
            let value = f64::from(byte) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(self.0) + 0.7152 * part(self.1) + 0.0722 * part(self.2)
    }

    /// Contrast between two colours, from 1 to 21.
    pub fn contrast(self, other: Self) -> f64 {
        let (one, two) = (self.luminance(), other.luminance());
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    /// Black or white, whichever can be read on this colour.
    pub(crate) fn legible_ink(self) -> Self {
        let (dark, light) = (Self(0x11, 0x11, 0x11), Self(0xff, 0xff, 0xff));
        if self.contrast(dark) >= self.contrast(light) { dark } else { light }
    }
}

impl fmt::Display for Rgb {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |byte: u8| byte >> 4 == byte & 15;
        if short(self.0) && short(self.1) && short(self.2) {
            write!(out, "#{:x}{:x}{:x}", self.0 & 15, self.1 & 15, self.2 & 15)
        } else {
            write!(out, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
        }
    }
}

impl TryFrom<String> for Rgb {
    type Error = ChartError;

    fn try_from(text: String) -> Result<Self, ChartError> {
        Self::parse("", &text)
    }
}

impl From<Rgb> for String {
    fn from(colour: Rgb) -> Self {
        format!("#{:02x}{:02x}{:02x}", colour.0, colour.1, colour.2)
    }
}
