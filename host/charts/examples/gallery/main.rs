//! Draws each kind of chart, with plausible and with nasty data, into a folder: `cargo run --example gallery -- FOLDER`.

mod nasty;
mod plausible;

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use skillbench_charts::{Chart, ChartError, Look, Theme, png};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args().nth(1).ok_or("name the folder to draw into")?;
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    let look = Look::default();
    for (name, chart) in plausible::charts()?.into_iter().chain(nasty::charts()?) {
        draw(folder, name, &chart, &look)?;
    }
    Ok(())
}

fn draw(folder: &Path, name: &str, chart: &Chart, look: &Look) -> Result<(), Box<dyn Error>> {
    let size = chart.natural_size(760);
    for (theme, suffix) in [(Theme::Light, ""), (Theme::Dark, "-dark")] {
        let svg = chart.svg(look, size, theme);
        fs::write(folder.join(format!("{name}{suffix}.png")), png(&svg, 1.5)?)?;
        fs::write(folder.join(format!("{name}{suffix}.svg")), svg)?;
    }
    fs::write(folder.join(format!("{name}-page.svg")), chart.svg(look, size, Theme::Page))?;
    Ok(())
}

/// The charts of a gallery by name.
pub type Gallery = Result<Vec<(&'static str, Chart)>, ChartError>;
