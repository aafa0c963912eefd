//! Takes pictures of a page in a real browser: wide, on a phone, dark and on paper.
//!
//! `cargo run --release -p skillbench-report --example pictures -- BROWSER PAGE FOLDER`

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use skillbench_browser::Tab;
use std::error::Error;
use std::path::Path;
use std::time::Duration;

/// Name, width, medium and colours.
const LOOKS: [(&str, u32, &str, &str); 4] = [
    ("wide", 1200, "screen", "light"),
    ("phone", 400, "screen", "light"),
    ("dark", 1200, "screen", "dark"),
    ("print", 688, "print", "light"),
];
/// No picture is higher.
const HIGHEST: u64 = 9000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [browser, page, folder] = &arguments[..] else { return Err("expected: BROWSER PAGE FOLDER".into()) };
    std::fs::create_dir_all(folder)?;
    let page = Path::new(page).canonicalize()?;
    let name = page.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut tab = Tab::open(Path::new(browser), Duration::from_secs(30))?;
    tab.call("Page.enable", json!({}))?;
    for (look, width, medium, colours) in LOOKS {
        let scheme = json!([{ "name": "prefers-color-scheme", "value": colours }]);
        tab.call("Emulation.setEmulatedMedia", json!({ "media": medium, "features": scheme }))?;
        let size = |height: u64| json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        tab.call("Emulation.setDeviceMetricsOverride", size(900))?;
        tab.call("Page.navigate", json!({ "url": format!("file://{}", page.display()) }))?;
        std::thread::sleep(Duration::from_millis(700));
        let mut height = 0;
        // What is not on the screen is not laid out until it is.
        for _ in 0..2 {
            height = tab.value("document.documentElement.scrollHeight")?.as_u64().unwrap_or(900);
            tab.call("Emulation.setDeviceMetricsOverride", size(height.min(HIGHEST)))?;
            std::thread::sleep(Duration::from_millis(300));
        }
        let answer = tab.call("Page.captureScreenshot", json!({}))?;
        let picture = STANDARD.decode(answer["data"].as_str().unwrap_or_default())?;
        let file = Path::new(folder).join(format!("{name}-{look}.png"));
        std::fs::write(&file, picture)?;
        println!("{} {width} x {height}", file.display());
    }
    Ok(())
}
