//! Drawings as pictures, and how long drawing takes.

use std::time::{Duration, Instant};

use resvg::tiny_skia::Pixmap;
use skillbench_charts::{Bar, Bars, Chart, ChartError, Estimate, Head, Look, Theme, png};

fn chart(bars: usize) -> Chart {
    let bars = (0..bars).map(|index| Bar {
        label: format!("model {index}"),
        sublabel: "cuda".to_owned(),
        estimate: Estimate::within(10.0 + index as f64, 9.0, 12.0 + index as f64),
        hardware: ["cpu", "cuda", "qnn"][index % 3].to_owned(),
        emulated: index % 3 == 2,
        ..Bar::default()
    });
    let head = Head { title: "Latency".to_owned(), ..Head::default() };
    Chart::Bars(Bars { head, unit: "ms".to_owned(), bars: bars.collect(), ..Bars::default() })
}

fn svg(chart: &Chart, theme: Theme) -> String {
    chart.svg(&Look::default(), chart.natural_size(640), theme)
}

#[test]
fn a_picture_has_the_size_of_the_drawing_and_its_colours() {
    let chart = chart(6);
    let size = chart.natural_size(640);
    for theme in [Theme::Light, Theme::Dark] {
        let picture = Pixmap::decode_png(&png(&svg(&chart, theme), 2.0).unwrap()).unwrap();
        assert_eq!((picture.width(), picture.height()), (2 * size.width, 2 * size.height));
        let has = |red: u8, green: u8, blue: u8| {
            picture.pixels().iter().any(|pixel| (pixel.red(), pixel.green(), pixel.blue()) == (red, green, blue))
        };
        assert!(has(0x1f, 0x77, 0xb4) && has(0xec, 0x6f, 0x00));
        assert!(
            picture.pixels().iter().all(|pixel| pixel.alpha() == 255),
            "no pixel is left open, the last row included"
        );
    }
}

#[test]
fn text_is_drawn_without_a_font_of_the_system() {
    let empty = Chart::Bars(Bars { head: Head { title: "Latency".to_owned(), ..Head::default() }, ..Bars::default() });
    let picture = Pixmap::decode_png(&png(&svg(&empty, Theme::Light), 1.0).unwrap()).unwrap();
    let dark = picture.pixels().iter().filter(|pixel| pixel.red() < 80).count();
    assert!(dark > 100, "{dark} dark pixels");
}

#[test]
fn the_same_drawing_is_the_same_picture() {
    let drawing = svg(&chart(6), Theme::Light);
    assert_eq!(drawing, svg(&chart(6), Theme::Light));
    assert_eq!(png(&drawing, 1.5).unwrap(), png(&drawing, 1.5).unwrap());
}

#[test]
fn what_cannot_become_a_picture_is_refused_with_the_next_step() {
    let page = png(&svg(&chart(2), Theme::Page), 1.0).unwrap_err();
    assert!(matches!(page, ChartError::PageTheme) && page.to_string().contains("Theme::Light"));
    assert!(matches!(png("not a drawing", 1.0).unwrap_err(), ChartError::Svg(_)));
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e6] {
        assert!(
            matches!(png(&svg(&chart(2), Theme::Light), scale).unwrap_err(), ChartError::PictureSize { .. }),
            "{scale}"
        );
    }
}

#[test]
fn a_label_that_looks_like_a_page_does_not_stop_a_picture() {
    let mut odd = chart(1);
    if let Chart::Bars(bars) = &mut odd {
        bars.head.title = "data-theme=\"page\" var(--ink)".to_owned();
    }
    assert!(png(&svg(&odd, Theme::Light), 1.0).is_ok());
}

#[test]
fn a_hundred_charts_are_drawn_in_a_second() {
    let charts: Vec<Chart> = (0..100).map(|_| chart(40)).collect();
    let start = Instant::now();
    let bytes: usize = charts.iter().map(|chart| svg(chart, Theme::Page).len()).sum();
    let took = start.elapsed();
    println!("100 charts of 40 bars: {took:?}, {bytes} bytes");
    assert!(took < Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 }), "{took:?}");
}
