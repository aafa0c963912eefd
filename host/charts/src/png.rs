//! A drawing as a picture, with the font that comes with this crate: the same on every machine.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

use crate::ChartError;

/// A picture of more pixels takes more memory than a chart is worth.
const MOST_PIXELS: u64 = 100_000_000;

static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    Arc::new(fonts)
});

/// Makes a PNG of a drawing; at scale 2 it has twice as many pixels each way.
pub fn png(svg: &str, scale: f64) -> Result<Vec<u8>, ChartError> {
    let root = svg.split_once('>').map_or(svg, |(root, _)| root);
    if root.contains("data-theme=\"page\"") {
        return Err(ChartError::PageTheme);
    }
    let options = Options { fontdb: Arc::clone(&FONTS), font_family: "DejaVu Sans".to_owned(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| ChartError::Svg(error.to_string()))?;
    let (width, height) = (f64::from(tree.size().width()) * scale, f64::from(tree.size().height()) * scale);
    let outside = || ChartError::PictureSize { width, height, most: MOST_PIXELS };
    let pixels = width.ceil() * height.ceil();
    if !(pixels >= 1.0 && pixels <= MOST_PIXELS as f64 && width > 0.0) {
        return Err(outside());
    }
    let mut picture = Pixmap::new(width.ceil() as u32, height.ceil() as u32).ok_or_else(outside)?;
    // Stretched to whole pixels, so that the last row and column are covered too.
    let across = picture.width() as f32 / tree.size().width();
    let down = picture.height() as f32 / tree.size().height();
    resvg::render(&tree, Transform::from_scale(across, down), &mut picture.as_mut());
    picture.encode_png().map_err(|error| ChartError::Encode(error.to_string()))
}
