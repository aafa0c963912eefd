//! Reports of real runs: read by programs, and opened in a real browser.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use browser::{Opened, browser, medium, size};
use serde_json::{Value, json};
use skillbench_tests::World;
use std::path::Path;
use std::sync::LazyLock;

#[path = "../../host/report/tests/page/browser.rs"]
#[allow(dead_code, reason = "the tests of the page use all of it")]
mod browser;

const BACKENDS: &str = "rten,cpu,openvino";
const MODELS: &str = "probe-mlp,bert-tiny,llama-tiny,deit-tiny,mobilenet-v1";

/// A run of three backends and five models, and of a fourth backend that is not here. The tests only read it.
static MEASURED: LazyLock<(World, Value)> = LazyLock::new(|| {
    let world = World::default();
    let plugins = format!("{BACKENDS},cuda");
    let grid = ["--batch-sizes", "1,2", "--sequence-lengths", "16,32", "--bench", "inference"];
    let asked = ["--plugin", &plugins, "--model", MODELS, "--report", "html,markdown", "--plots"];
    let (ran, document) = world.run(&[&asked[..], &grid].concat());
    assert!(matches!(ran.code(), Some(0 | 4)), "{}", ran.stderr());
    (world, document)
});

/// Writes what the browser shows, in pieces, for whoever wants to look at it.
fn picture(page: &mut Opened<'_>, name: &str) {
    const PIECE: u64 = 1800;
    let height =
        |page: &mut Opened<'_>| page.value("document.documentElement.scrollHeight").as_u64().unwrap().min(5 * PIECE);
    // What is not on the screen is not drawn, and its height is a guess.
    for _ in 0..2 {
        let whole = height(page);
        size(page.tab, 1200, whole as u32);
        page.settle();
    }
    for piece in 0..height(page).div_ceil(PIECE) {
        let clip = json!({"x": 0, "y": piece * PIECE, "width": 1200, "height": PIECE, "scale": 1});
        let answer = page.tab.call("Page.captureScreenshot", json!({ "clip": clip })).unwrap();
        let bytes = STANDARD.decode(answer["data"].as_str().unwrap()).unwrap();
        std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{piece}.png")), bytes).unwrap();
    }
    size(page.tab, 1200, 900);
}

#[test]
fn the_page_of_a_real_run_opens_in_a_browser_and_can_be_explored() {
    let (world, document) = &*MEASURED;
    let cells = skillbench_tests::cells(document);
    let of = |plugin: &str| cells.iter().filter(|cell| cell["plugin"] == plugin).count() as u64;
    let file = world.run_folder().join("report.html");
    assert!(std::fs::metadata(&file).unwrap().len() < 3 << 20);
    let mut browser = browser();
    for scheme in ["light", "dark"] {
        medium(&mut browser.tab, "screen", scheme);
        let mut page = Opened::file(&mut browser, &file, "");
        assert_eq!(page.complaints(), [""; 0]);
        picture(&mut page, &format!("report-{scheme}"));
    }
    let rows = ".counts tbody tr";
    let mut page = Opened::file(&mut browser, &file, "#hardware=rten");
    page.value("document.querySelectorAll('details').forEach(part => part.open = true)");
    assert_eq!(page.seen(rows), of("rten"), "the address says what is shown");
    page.click("[type=reset]");
    assert_eq!(page.seen(rows), cells.len() as u64);
    page.click("[data-key=hardware] input[value=cuda]");
    assert_eq!(page.seen(rows), of("cuda"));
    assert_eq!(page.hash(), "#hardware=cuda");
    assert!(page.text("#problems").contains("unavailable"), "what could not run is told with its reason");
    assert_eq!(page.complaints(), [""; 0]);
}

/// The smallest letters on the page in pixels, what is wider than the page, and drawings without a title.
const MEASURES: &str = "(() => {
    const seen = element => element.checkVisibility();
    const letters = [...document.querySelectorAll('body *')].filter(element =>
        seen(element) && [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim()));
    const scale = element => { const svg = element.closest('svg'); return svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1; };
    const least = Math.min(...letters.map(element => parseFloat(getComputedStyle(element).fontSize) * scale(element)));
    const untitled = [...document.querySelectorAll('svg.chart > title')].filter(title => !title.textContent.trim()).length;
    return [least, document.documentElement.scrollWidth, untitled, document.querySelectorAll('svg.chart').length];
})()";

#[test]
fn the_page_of_a_real_run_is_short_legible_and_decides_what_is_shown() {
    let (world, _) = &*MEASURED;
    let file = world.run_folder().join("report.html");
    let mut browser = browser();
    for (width, highest) in [(1200, 6000), (400, 9000)] {
        size(&mut browser.tab, width, 900);
        let mut page = Opened::file(&mut browser, &file, "");
        // What is not on the screen is laid out once it has been.
        for _ in 0..2 {
            let height = page.value("document.documentElement.scrollHeight").as_u64().unwrap();
            size(page.tab, width, height.min(12_000) as u32);
            page.settle();
        }
        let height = page.value("document.documentElement.scrollHeight").as_u64().unwrap();
        assert!(height <= highest, "{height} pixels at {width}");
        let measures = page.value(MEASURES);
        assert!(measures[0].as_f64().unwrap() >= 11.9, "letters of {} pixels at {width}", measures[0]);
        assert_eq!(measures[1], width, "wider than the page");
        assert_eq!(measures[2], 0, "drawings without a title");
        assert!(measures[3].as_u64().unwrap() > 3);
    }
    size(&mut browser.tab, 1200, 900);
    let mut page = Opened::file(&mut browser, &file, "");
    for part in [".headline", ".context", "#decided", "[name=metric]"] {
        let top = format!("document.querySelector('{part}').getBoundingClientRect().top");
        assert!(page.value(&top).as_f64().unwrap() < 900.0, "{part} is below the fold");
    }
    let whole = page.text(".headline");
    let mut page = Opened::file(&mut browser, &file, "#model=bert-tiny&hardware=cpu&hardware=rten");
    let one = page.text(".headline");
    assert!(one != whole && !one.contains("openvino"), "{one}");
    let mut page = Opened::file(&mut browser, &file, "#hardware=cuda");
    assert!(page.text(".headline").starts_with("Nothing is compared"), "{}", page.text(".headline"));
    let mut page = Opened::file(&mut browser, &file, "#metric=memory");
    assert!(page.text("#decisions h2").contains("Peak memory") && page.text(".headline").contains("smallest"));
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn a_report_is_markdown_for_people_and_json_and_csv_for_programs() {
    let (world, document) = &*MEASURED;
    let markdown = world.host(&["report", "latest", "--format", "markdown"]).exits_with(0).stdout();
    for part in [
        "# Benchmark report",
        "fastest at",
        "| how sure |",
        "<summary>Hardware</summary>",
        "<summary>Latency and throughput</summary>",
        "<summary>Relative to the CPU</summary>",
        "<summary>Problems</summary>",
        "cuda: unavailable",
    ] {
        assert!(markdown.contains(part), "'{part}' is not in:\n{markdown}");
    }
    let mut is_folded = false;
    let open = markdown.lines().filter(|line| {
        is_folded |= line.starts_with("<details>");
        let counts = !is_folded;
        is_folded &= !line.starts_with("</details>");
        counts
    });
    let open = open.count();
    assert!(open <= 40 + markdown.matches("</details>").count(), "{open} lines stand in the open:\n{markdown}");
    assert!(std::fs::read_to_string(world.run_folder().join("report.md")).unwrap().contains("# Benchmark report"));
    let json: Value = serde_json::from_str(&world.host(&["report", "latest", "--format", "json"]).stdout()).unwrap();
    assert_eq!(json["cells"]["rows"].as_array().unwrap().len(), skillbench_tests::cells(document).len());
    assert!(json["badges"].as_array().unwrap().iter().any(|badge| badge["text"] == "not measured"));
    let csv = world.host(&["report", "latest", "--format", "csv"]).exits_with(0).stdout();
    assert_eq!(csv.lines().count(), skillbench_tests::cells(document).len() + 1);
    let id = document["run_id"].as_str().unwrap();
    // Without its folder the run is read out of the database, and tells the same.
    let from_folder = world.host(&["report", id, "--format", "csv"]).stdout();
    let base = ["--db", "results/benchmarks.duckdb", "--results-dir", "nowhere"];
    let from_base = world.host(&[&["report", id, "--format", "csv"], &base[..]].concat());
    assert_eq!(from_base.exits_with(0).stdout(), from_folder);
    world.host(&["report", "latest", "--comparative"]).exits_with(0).tells("how sure");
    world.host(&["report", "latest", "--optimization"]).exits_with(0).tells("What to change");
    world.host(&["report", "--where", "plugin = 'rten'"]).exits_with(0).tells("on 1 backend");
}

#[test]
fn a_dashboard_has_an_index_and_a_page_for_each_model_backend_and_run() {
    let (world, _) = &*MEASURED;
    world.host(&["report", "--dashboard", "--output", "board"]).exits_with(0);
    let board = world.path().join("board");
    let pages: Vec<_> = std::fs::read_dir(board.join("models")).unwrap().flatten().collect();
    assert_eq!(pages.len(), MODELS.split(',').count());
    let backends: Vec<_> = std::fs::read_dir(board.join("hardware")).unwrap().flatten().collect();
    assert_eq!(backends.len(), BACKENDS.split(',').count() + 1);
    let mut browser = browser();
    let mut page = Opened::file(&mut browser, &board.join("index.html"), "");
    page.value("document.querySelectorAll('details').forEach(part => part.open = true)");
    let links = page.value(
        "[...new Set([...document.querySelectorAll('a[href^=\"models/\"]')].map(link => link.getAttribute('href')))]",
    );
    assert_eq!(links.as_array().unwrap().len(), pages.len());
    for link in links.as_array().unwrap() {
        assert!(board.join(link.as_str().unwrap()).is_file(), "{link}");
    }
    assert_eq!(page.complaints(), [""; 0]);
    picture(&mut page, "dashboard");
    let run = page.value("document.querySelector('a[href^=\"runs/\"]').getAttribute('href')");
    let run = board.join(run.as_str().unwrap());
    let mut page = Opened::file(&mut browser, &run, "");
    assert!(page.seen("#decided tbody tr") > 0, "the page of a run decides as the run's report does");
    assert_eq!(page.value("document.querySelector('nav.links a').getAttribute('href')"), "../index.html");
    let mut page = Opened::file(&mut browser, &board.join("models/bert-tiny.html"), "");
    assert_eq!(page.text("h1"), "bert-tiny");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn what_is_not_stored_is_told() {
    let world = World::default();
    world.host(&["report"]).exits_with(2).tells("there is no run in results yet");
    world.host(&["report", "nothing"]).exits_with(2).tells("nothing");
    world.host(&["plot", "--kind", "pie"]).exits_with(2).tells("there is no run");
    world.write("results/broken/journal.ndjson", "{}\n");
    world.host(&["report", "broken"]).exits_with(2).tells("line 1: missing field `type`");
    world.host(&["plot", "--kind", "list"]).exits_with(0).tells("model-heat-map");
}

#[test]
fn plots_are_drawn_from_a_run_from_files_and_from_the_database() {
    let world = World::default();
    let quick = [
        "--plugin",
        "rten,cpu",
        "--model",
        "probe-mlp,bert-tiny",
        "--bench",
        "inference",
        "--batch-sizes",
        "1,2",
        "--sequence-lengths",
        "16",
    ];
    world.run(&quick).0.exits_with(0);
    let drawn = |arguments: &[&str], folder: &str| -> Vec<String> {
        world.host(&[&["plot"], arguments, &["--output-dir", folder]].concat()).exits_with(0);
        let files = std::fs::read_dir(world.path().join(folder)).unwrap().flatten();
        files.map(|file| file.file_name().to_string_lossy().into_owned()).collect()
    };
    let all = drawn(&["latest", "--image", "svg"], "all");
    assert!(
        all.iter().any(|name| name.starts_with("hardware-comparison")) && all.iter().all(|name| name.ends_with(".svg")),
        "{all:?}"
    );
    let json = world.run_folder().join("run.json");
    let from_file = drawn(&["--json-path", json.to_str().unwrap(), "--kind", "latency,speedup"], "file");
    assert!(from_file.iter().any(|name| name.ends_with(".png")), "{from_file:?}");
    assert!(!drawn(&["--all", "--memory-scaling-chart"], "base").is_empty());
    // What has no data says so in a drawing of its own.
    let nothing = drawn(&["latest", "--kind", "before-after"], "nothing");
    assert_eq!(nothing.len(), 2, "{nothing:?}");
    world.host(&["plot", "latest", "--model", "no-such"]).exits_with(2).tells("no cell is of no-such");
    world.run(&quick).0.exits_with(0);
    let mut runs: Vec<String> = std::fs::read_dir(world.path().join("results"))
        .unwrap()
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    runs.sort();
    let pair = drawn(&["--comparison", &runs[0], &runs[1]], "pair");
    assert!(pair.iter().any(|name| name.starts_with("before-after")), "{pair:?}");
    world.host(&["report", "--join", &runs[0], &runs[1]]).exits_with(0).tells("2 runs");
    world.host(&["run", "--plot-only"]).exits_with(0).tells("plots in");
}
