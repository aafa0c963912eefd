//! A chart that goes elsewhere: as a picture, and by its address.

use crate::browser::{Opened, browser, medium};
use crate::sample;
use serde_json::{Value, json};

/// Width, height and how many of its pixels are neither paper nor transparent, of the picture of a chart.
const PICTURE: &str = "
    (async figure => {
      const { picture } = sharer({ say: name => name, address: at => '#at=' + at });
      const image = await createImageBitmap(await picture(figure));
      const canvas = new OffscreenCanvas(image.width, image.height), paper = canvas.getContext('2d');
      paper.drawImage(image, 0, 0);
      const { data } = paper.getImageData(0, 0, image.width, image.height);
      const same = at => [0, 1, 2].every(part => data[at + part] === data[part]);
      let inked = 0;
      for (let at = 0; at < data.length; at += 4) inked += data[at + 3] === 255 && !same(at);
      return [image.width, image.height, inked, [...data.slice(0, 3)]];
    })(document.querySelector('figure:has(.plot)'))";

#[test]
fn the_picture_of_a_chart_has_its_marks_and_the_colours_of_the_screen() {
    let mut browser = browser();
    for (scheme, paper) in [("light", [255, 255, 255]), ("dark", [22, 24, 29])] {
        medium(&mut browser.tab, "screen", scheme);
        let mut page = Opened::page(&mut browser, &sample::page(), "");
        let drawn = page.value(PICTURE);
        let number = |place: usize| drawn[place].as_u64().unwrap();
        let shown = page.value("document.querySelector('.plot svg').getAttribute('width')");
        let shown: u64 = shown.as_str().unwrap().parse().unwrap();
        assert_eq!(number(0), 2 * shown, "{drawn}");
        // Letters and marks cover some of it, not none and not all.
        let share = number(2) as f64 / (number(0) * number(1)) as f64;
        assert!((0.01..0.6).contains(&share), "{scheme}: {drawn}");
        assert_eq!(drawn[3], json!(paper), "{scheme}");
        assert_eq!(page.complaints(), [""; 0]);
    }
}

#[test]
fn a_chart_can_be_taken_away_whether_or_not_the_clipboard_is_free() {
    let mut browser = browser();
    let mut page = Opened::page(&mut browser, &sample::page(), "");
    page.click(".share button");
    page.settle();
    let told = page.text(".share [role=status]");
    assert!(told == "Copied." || told.starts_with("Saved as"), "{told}");
}

#[test]
fn the_address_of_a_chart_keeps_the_view_and_leads_to_it() {
    let mut browser = browser();
    let mut page = Opened::page(&mut browser, &sample::page(), "#hardware=cpu");
    let charts = page.value("[...document.querySelectorAll('figure:has(.plot)')].map(figure => figure.id)");
    let last = charts.as_array().unwrap().last().and_then(Value::as_str).unwrap().to_string();
    page.click(&format!("[id='{last}'] .share a"));
    assert_eq!(page.hash(), format!("#hardware=cpu&at={last}"));
    let hash = page.hash();
    let mut page = Opened::page(&mut browser, &sample::page(), &hash);
    assert_eq!(page.seen(&format!("[id='{last}'] .plot")), 1, "also where it was folded away");
    assert!(page.value("scrollY").as_f64().unwrap() > 0.0);
    assert_eq!(page.value("document.querySelectorAll('[data-key=hardware] :checked').length"), 1);
    let mut page = Opened::page(&mut browser, &sample::page(), "#at=nowhere");
    assert!(page.text(".status").contains("nowhere"));
}
