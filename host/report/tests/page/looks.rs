//! How a page looks: in both colour schemes, on narrow screens, and as pictures for whoever changes it.

use crate::browser::{Opened, browser, medium, size};
use crate::sample;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::path::Path;

#[test]
fn it_opens_in_both_colour_schemes_without_a_complaint() {
    let mut browser = browser();
    for (scheme, ground, ink) in
        [("light", "rgb(255, 255, 255)", "rgb(34, 34, 34)"), ("dark", "rgb(22, 24, 29)", "rgb(232, 232, 234)")]
    {
        medium(&mut browser.tab, "screen", scheme);
        let mut page = Opened::page(&mut browser, &sample::page(), "");
        assert_eq!(page.value("getComputedStyle(document.body).backgroundColor"), ground);
        assert_eq!(page.value("getComputedStyle(document.querySelector('h1')).color"), ink);
        // Drawings follow the page.
        assert_eq!(page.value("getComputedStyle(document.querySelector('.plot svg')).fill"), ink);
        assert_eq!(page.complaints(), [""; 0]);
    }
    // The reader's wish goes before the system's, and is kept in the address.
    let mut page = Opened::page(&mut browser, &sample::page(), "");
    page.value("(box => { box.value = 'light'; box.dispatchEvent(new Event('input', { bubbles: true })); })(document.querySelector('select'))");
    page.settle();
    assert_eq!(page.value("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)");
    assert_eq!(page.hash(), "#theme=light");
}

#[test]
fn texts_stand_out_from_their_ground() {
    let contrast = "
        (() => {
          const part = value => (value /= 255) <= .03928 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4;
          const light = text => { const [r, g, b] = text.match(/[\\d.]+/g).map(Number); return .2126 * part(r) + .7152 * part(g) + .0722 * part(b); };
          const probe = document.body.appendChild(document.createElement('i'));
          const of = name => { probe.style.color = `var(--${name})`; return light(getComputedStyle(probe).color); };
          const ratio = (a, b) => (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
          return ['ink', 'ink-soft', 'link', 'good', 'warn', 'bad', 'info', 'emulated']
            .flatMap(name => ['ground', 'raised'].map(ground => [name, ground, ratio(of(name), of(ground))]));
        })()";
    let mut browser = browser();
    for scheme in ["light", "dark"] {
        medium(&mut browser.tab, "screen", scheme);
        let mut page = Opened::page(&mut browser, &sample::page(), "");
        for pair in page.value(contrast).as_array().unwrap() {
            assert!(pair[2].as_f64().unwrap() >= 4.5, "{scheme}: {pair}");
        }
    }
}

#[test]
fn a_narrow_screen_scrolls_tables_and_charts_in_boxes_of_their_own() {
    let mut browser = browser();
    size(&mut browser.tab, 360, 740);
    let mut page = Opened::page(&mut browser, &sample::page(), "");
    page.value("document.querySelectorAll('details.behind').forEach(part => part.open = true)");
    assert_eq!(page.value("document.documentElement.scrollWidth"), 360);
    assert_eq!(
        page.value("document.querySelector('.box').scrollWidth > document.querySelector('.box').clientWidth"),
        true
    );
}

/// Where pictures go, for whoever wants to look at them.
fn folder() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

fn picture(page: &mut Opened, name: &str) {
    let height = page.value("document.documentElement.scrollHeight").as_f64().unwrap().min(9000.0);
    let width = page.value("document.documentElement.clientWidth");
    let clip = json!({ "x": 0, "y": 0, "width": width, "height": height, "scale": 1 });
    let shot = json!({ "captureBeyondViewport": true, "clip": clip });
    let answer = page.tab.call("Page.captureScreenshot", shot).unwrap();
    let bytes = STANDARD.decode(answer["data"].as_str().unwrap()).unwrap();
    assert!(bytes.starts_with(b"\x89PNG"));
    std::fs::write(folder().join(name), bytes).unwrap();
}

#[test]
fn pictures_are_taken_for_whoever_changes_the_page() {
    let mut browser = browser();
    for scheme in ["light", "dark"] {
        medium(&mut browser.tab, "screen", scheme);
        let mut page = Opened::page(&mut browser, &sample::page(), "");
        picture(&mut page, &format!("page-{scheme}.png"));
    }
    medium(&mut browser.tab, "screen", "light");
    let mut page =
        Opened::page(&mut browser, &sample::page(), "#hardware=cpu&hardware=openvino&family=text_generation");
    page.value(
        "document.querySelector('[data-key=hardware]').open = true; document.querySelector('.behind').open = true",
    );
    picture(&mut page, "page-filtered.png");

    size(&mut browser.tab, 390, 844);
    let mut page = Opened::page(&mut browser, &sample::page(), "");
    picture(&mut page, "page-narrow.png");
    size(&mut browser.tab, 1200, 900);

    size(&mut browser.tab, 760, 900);
    medium(&mut browser.tab, "print", "light");
    let mut page = Opened::page(&mut browser, &sample::page(), "");
    picture(&mut page, "page-print.png");

    medium(&mut browser.tab, "", "light");
    let page = Opened::page(&mut browser, &sample::page(), "");
    let printed =
        page.tab.call("Page.printToPDF", json!({ "preferCSSPageSize": true, "printBackground": true })).unwrap();
    let bytes = STANDARD.decode(printed["data"].as_str().unwrap()).unwrap();
    assert!(bytes.starts_with(b"%PDF"));
    std::fs::write(folder().join("page.pdf"), bytes).unwrap();
}
