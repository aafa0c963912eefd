//! What readers do with a page.

use crate::browser::{Opened, browser, medium, size};
use crate::sample::{self, HARDWARE, MODELS};
use serde_json::json;
use skillbench_report::page::Page;

/// The rows that the page counts.
const ROWS: &str = ".counts tbody tr";

fn opened_tables(page: &mut Opened) {
    page.value("document.querySelectorAll('details.behind').forEach(part => part.open = true)");
}

#[test]
fn a_filter_hides_what_it_leaves_out_and_is_kept_in_the_address() {
    let mut browser = browser();
    let mut page = Opened::page(&mut browser, &sample::page(), "");
    opened_tables(&mut page);
    let all = (MODELS.len() * HARDWARE.len()) as u64;
    assert_eq!(page.seen(ROWS), all);
    assert_eq!(page.text(".status"), "All 20 cells are shown.");
    assert_eq!(page.hash(), "");

    page.click("[data-key=hardware] input[value=cuda]");
    assert_eq!(page.seen(ROWS), 5);
    assert_eq!(page.hash(), "#hardware=cuda");
    assert_eq!(page.text(".status"), "5 of 20 cells are shown. Filtered by Hardware: cuda.");
    assert_eq!(page.text("[data-key=hardware] summary span"), "1 of 4");
    assert_eq!(page.value("document.querySelectorAll('.counts .mark:not(.off)').length"), 5);
    assert_eq!(page.text(".counts .count"), "5 of 20 marks are shown.");
    assert_eq!(page.text(".counts .behind summary span"), "5 of 20 rows");

    page.click("[data-key=hardware] input[value=cpu]");
    page.click("[data-key=family] input[value=vision]");
    assert_eq!(page.seen(ROWS), 2);
    assert_eq!(page.hash(), "#hardware=cpu&hardware=cuda&family=vision");

    page.click("[type=reset]");
    assert_eq!(page.seen(ROWS), all);
    assert_eq!(page.hash(), "");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn a_search_finds_models_by_parts_of_their_names() {
    let mut browser = browser();
    let mut page = Opened::page(&mut browser, &sample::page(), "");
    opened_tables(&mut page);
    page.value("document.querySelector('[type=search]').focus()");
    page.tab.call("Input.insertText", json!({ "text": "Llama chat" })).unwrap();
    page.settle();
    page.settle();
    assert_eq!(page.seen(ROWS), 4);
    assert_eq!(page.hash(), "#q=Llama+chat");
    // A figure of another model goes as a whole, and its section says why it is empty.
    assert_eq!(page.seen("#distribution figure"), 0);
    assert_eq!(page.seen("#distribution .nothing"), 1);
    assert_eq!(page.seen("#latency .nothing"), 0);
}

#[test]
fn an_address_opens_the_view_it_was_taken_from() {
    let hash = "#hardware=openvino&model=t5-small&model=bert-base-uncased&sort=latency_1.4.down&theme=dark";
    let mut browser = browser();
    let mut page = Opened::page(&mut browser, &sample::page(), hash);
    opened_tables(&mut page);
    assert_eq!(page.seen(ROWS), 2);
    assert_eq!(page.value("document.querySelectorAll('.controls :checked[type=checkbox]').length"), 3);
    assert_eq!(page.value("getComputedStyle(document.body).backgroundColor"), "rgb(22, 24, 29)");
    let first = "document.querySelector('#latency_1 tbody tr:not(.off)').dataset.model";
    assert_eq!(page.value(first), "t5-small");
    page.click("[type=search]");
    assert_eq!(page.hash(), hash);

    // Another address of the same page, as from a bookmark.
    page.value("location.hash = '#family=audio'");
    page.settle();
    assert_eq!(page.seen(ROWS), 4);
}

#[test]
fn an_address_that_asks_for_what_is_not_there_says_so_and_shows_the_rest() {
    let mut browser = browser();
    let hash = "#hardware=tpu&hardware=cpu&colour=red&sort=latency_1.length.up";
    let mut page = Opened::page(&mut browser, &sample::page(), hash);
    let told = "The address asks for what is not on this page: colour, tpu, latency_1.length.up.";
    assert!(page.text(".status").ends_with(told), "{}", page.text(".status"));
    assert_eq!(page.value("document.querySelectorAll('.counts tbody tr:not(.off)').length"), 5);

    let mut page = Opened::page(&mut browser, &sample::page(), "#q=no-such-model");
    assert_eq!(
        page.text(".status"),
        "Nothing matches: none of 20 cells is shown. Filtered by Search models: no-such-model."
    );
    assert_eq!(page.seen(".plot"), 0);
    assert_eq!(page.seen("#latency .nothing"), 1);
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn tables_sort_by_what_is_meant_and_keep_what_is_missing_last() {
    let mut browser = browser();
    let mut page = Opened::page(&mut browser, &sample::page(), "");
    opened_tables(&mut page);
    let column = "[...document.querySelectorAll('#latency_1 tbody tr')].map(row => row.cells[4].textContent.trim())";
    let before = page.value(column);
    let head = "#latency_1 thead th:nth-child(5) button";
    let numbers = |values: &serde_json::Value| -> Vec<Option<f64>> {
        values.as_array().unwrap().iter().map(|text| text.as_str().unwrap().parse().ok()).collect()
    };
    page.click(head);
    let up = numbers(&page.value(column));
    assert!(up[..16].windows(2).all(|pair| pair[0] <= pair[1] && pair[0].is_some()), "{up:?}");
    assert!(up[16..].iter().all(Option::is_none), "{up:?}");
    assert_eq!(page.hash(), "#sort=latency_1.4.up");
    page.click(head);
    let down = numbers(&page.value(column));
    assert!(down[..16].windows(2).all(|pair| pair[0] >= pair[1] && pair[1].is_some()), "{down:?}");
    assert!(down[16..].iter().all(Option::is_none), "{down:?}");
    assert_eq!(page.value("document.querySelector('#latency_1 [aria-sort]').getAttribute('aria-sort')"), "descending");
    page.click(head);
    assert_eq!(page.value(column), before);
    assert_eq!(page.hash(), "");
}

#[test]
fn everything_can_be_reached_and_used_with_the_keyboard() {
    let mut browser = browser();
    let mut page = Opened::page(&mut browser, &sample::page(), "");
    page.press("Tab");
    assert_eq!(page.value("document.activeElement.className"), "skip");
    assert_eq!(page.seen(".skip"), 1);
    assert!(page.value("document.activeElement.getBoundingClientRect().top").as_f64().unwrap() >= 0.0);
    page.press("Enter");
    assert_eq!(page.value("document.activeElement.id"), "main");

    // Round the whole page once: what can be used gets the focus, and shows it.
    page.value("document.activeElement.blur(); document.querySelector('.skip').focus()");
    let mut stops = vec![];
    for _ in 0..200 {
        page.press("Tab");
        let stop = page.value(
            "(({ tagName, type, className, textContent }) => [tagName, type ?? '', className, textContent.trim().slice(0, 12), \
             getComputedStyle(document.activeElement).outlineStyle])(document.activeElement)",
        );
        if stop[0] == "BODY" || stop[2] == "skip" {
            break;
        }
        assert_ne!(stop[4], "none", "no sign of the focus on {stop}");
        stops.push(stop);
    }
    let count = |tag: &str| stops.iter().filter(|stop| stop[0] == tag).count();
    // Four filters, a table behind each of the four charts that are seen at once, the fifth chart, and where figures come from.
    assert_eq!(count("SUMMARY"), 10, "{stops:?}");
    assert_eq!(count("SELECT"), 1);
    // Two that save the data and one below each chart: there is nothing to reset yet.
    assert_eq!(count("BUTTON"), 2 + 4, "{stops:?}");

    // A filter is opened, used and closed again.
    page.value("document.querySelector('[data-key=hardware] summary').focus()");
    page.press("Enter");
    page.press("Tab");
    page.press(" ");
    page.settle();
    assert_eq!(page.hash(), "#hardware=cpu");
    page.press("Escape");
    assert_eq!(page.value("document.querySelector('[data-key=hardware]').open"), false);
    assert_eq!(page.value("document.activeElement.tagName"), "SUMMARY");
}

#[test]
fn a_link_to_a_section_goes_there_and_leaves_the_view_as_it_is() {
    let mut browser = browser();
    let mut page = Opened::page(&mut browser, &sample::page(), "#hardware=cuda");
    page.click(".sections a[href='#start']");
    let top = page.value("document.querySelector('#start').getBoundingClientRect().top").as_f64().unwrap();
    let bar = page.value("document.querySelector('.controls').getBoundingClientRect().bottom").as_f64().unwrap();
    assert!(top >= bar && top < 300.0, "{top} under a bar to {bar}");
    assert_eq!(page.value("document.activeElement.id"), "start");
    assert_eq!(page.hash(), "#hardware=cuda");

    // From another page, as every link to a place.
    let mut page = Opened::page(&mut browser, &sample::page(), "#start");
    page.settle();
    let top = page.value("document.querySelector('#start').getBoundingClientRect().top").as_f64().unwrap();
    assert!((0.0..300.0).contains(&top), "{top}");
}

#[test]
fn without_scripts_all_of_it_is_there() {
    let mut browser = browser();
    browser.scripts(false);
    let mut page = Opened::page(&mut browser, &sample::page(), "#hardware=cuda");
    assert_eq!(page.value("document.documentElement.className"), "");
    assert_eq!(page.seen(".plot svg"), 4);
    page.value("document.querySelectorAll('.more, .fold').forEach(part => part.open = true)");
    assert_eq!(page.seen(".plot svg"), 5);
    assert_eq!(page.seen(".plot .mark"), page.value("document.querySelectorAll('.mark').length").as_u64().unwrap());
    assert_eq!(page.seen("details.behind > summary"), 5);
    assert_eq!(page.seen("main section"), 8);
    assert_eq!(page.seen(".verdict, .badge, .findings li, dd"), 1 + 4 + 3 + 1 + 4);
    // Nothing that does not work.
    assert_eq!(page.seen("form *, .status, thead button"), 0);
    // Tables open without a script.
    page.value("document.querySelector('details.behind summary').focus()");
    page.press("Enter");
    assert_eq!(page.seen("#latency_1 tbody tr"), 20);
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn on_paper_there_are_no_controls_and_all_is_open() {
    let mut browser = browser();
    for scripts in [true, false] {
        browser.scripts(scripts);
        medium(&mut browser.tab, "print", "dark");
        // What a sheet of A4 leaves between its margins.
        size(&mut browser.tab, 688, 1000);
        let mut page = Opened::page(&mut browser, &sample::page(), "");
        assert_eq!(page.seen("form, form *, nav, .skip, .behind > summary"), 0);
        assert_eq!(page.seen("#latency_1 tbody tr"), 20, "tables behind charts");
        assert_eq!(page.value("document.documentElement.scrollWidth"), 688, "wider than paper");
        let ground = page.value("getComputedStyle(document.documentElement).getPropertyValue('--ground')");
        assert_eq!(ground, "#ffffff", "dark paper");
    }
    // A view that leaves something out says so on paper too.
    browser.scripts(true);
    let mut page = Opened::page(&mut browser, &sample::page(), "");
    assert_eq!(page.seen(".status"), 0);
    page.value("location.hash = '#hardware=cuda'");
    page.settle();
    assert_eq!(page.seen(".status"), 1);
    assert_eq!(page.seen("form :is(input, summary, button, select)"), 0);
}

#[test]
fn the_data_is_saved_as_it_was_handed_over() {
    let folder = tempfile::tempdir().unwrap();
    let mut browser = browser();
    let behaviour = json!({ "behavior": "allow", "downloadPath": folder.path() });
    browser.tab.call("Browser.setDownloadBehavior", behaviour).unwrap();
    let Page { data, .. } = sample::page();
    let mut page = Opened::page(&mut browser, &sample::page(), "");
    for (kind, text) in [("json", data.json), ("csv", data.csv)] {
        page.click(&format!("[data-save={kind}]"));
        let file = folder.path().join(format!("sample.{kind}"));
        let mut saved = String::new();
        for _ in 0..100 {
            saved = std::fs::read_to_string(&file).unwrap_or_default();
            if !saved.is_empty() {
                break;
            }
            page.settle();
        }
        match kind {
            "csv" => assert_eq!(saved, text),
            _ => assert_eq!(
                serde_json::from_str::<serde_json::Value>(&saved).unwrap(),
                serde_json::from_str::<serde_json::Value>(&text).unwrap()
            ),
        }
    }
    assert_eq!(page.complaints().iter().filter(|text| !text.contains("blob:")).count(), 0);
}
