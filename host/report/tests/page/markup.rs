//! What stands in the file.

use crate::sample;
use skillbench_report::page::{
    Badge, Choice, Data, Figure, Filter, Finding, Link, Page, PageCell, PageError, PageRow, PageTable, Section, Tone,
};

/// A page on which every text is an attempt to break out.
fn hostile() -> Page {
    let evil = || "\"'><script>alert(1)</script><img src=x onerror=alert(2)>&{{ 7*7 }}{% raw %}".to_string();
    let attributes = || [("model".to_string(), evil())].into();
    let cell = || PageCell { why: Some(evil()), tone: Some(Tone::Bad), ..evil().into() };
    let rows = vec![PageRow { attributes: attributes(), cells: vec![cell()] }];
    Page {
        title: evil(),
        verdict: evil(),
        badges: vec![Badge { text: evil(), tone: Tone::Good, why: evil() }],
        notes: vec![evil()],
        links: vec![Link { href: "a\"onmouseover=\"alert(1).html".into(), text: evil() }],
        filters: vec![Filter { key: "model".into(), label: evil(), values: vec![Choice::from(evil())] }],
        unit: evil(),
        sections: vec![Section {
            id: "one".into(),
            title: evil(),
            intro: evil(),
            findings: vec![Finding {
                tone: Tone::Warn,
                title: evil(),
                evidence: evil(),
                advice: Some(evil()),
                attributes: attributes(),
            }],
            figures: vec![Figure {
                title: evil(),
                note: evil(),
                table: PageTable { columns: vec![evil()], rows },
                attributes: attributes(),
                ..Figure::default()
            }],
            folded: false,
        }],
        facts: vec![(evil(), evil())],
        data: Data { json: format!("[{}]", serde_json::json!(evil())), csv: evil(), name: evil() },
        ..Page::default()
    }
}

#[test]
fn no_text_breaks_out_of_its_place() {
    let html = hostile().html().unwrap();
    assert!(!html.contains("<script>alert"), "a script");
    assert!(!html.contains("<img"), "an element");
    assert!(!html.contains("\"onmouseover"), "an attribute");
    assert_eq!(html.matches("<script").count(), 3);
    assert_eq!(html.matches("</script>").count(), 3);
    assert!(html.contains("{{ 7*7 }}"), "texts are no templates");
}

#[test]
fn a_page_says_nothing_and_is_still_a_page() {
    let html = Page::default().html().unwrap();
    assert!(html.starts_with("<!doctype html>"));
    assert!(html.contains("<main"));
    // Nothing to search and nothing to save: no controls for it.
    assert!(html.contains("name=\"q\" hidden") && !html.contains("<button type=\"button\" data-save"));
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    let html = sample::page().html().unwrap();
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-";
    assert!(html.contains(&format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}")));
    // The name of the SVG language is no address.
    let rest = html.replace("http://www.w3.org/2000/svg", "");
    for trace in ["http:", "https:", "@import", " src=", "<iframe", "<object", "<base", "javascript:", " style=\""] {
        assert!(!rest.contains(trace), "{trace}");
    }
    for link in rest.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(link == "data:," || link.starts_with('#') || link.contains(".html"), "{link}");
    }
    for target in rest.split("url(").skip(1) {
        assert!(target.starts_with('#'), "url({}", &target[..20]);
    }
}

#[test]
fn a_table_stands_behind_every_chart() {
    let html = sample::page().html().unwrap();
    let charts: Vec<&str> = html.split("<div class=\"plot\">").skip(1).collect();
    assert_eq!(charts.len(), 5);
    for chart in charts {
        let figure = chart.split("</figure>").next().unwrap();
        assert!(figure.contains("<details class=\"behind\"") && figure.contains("<table"));
    }
}

#[test]
fn a_section_without_anything_says_so() {
    let html = sample::page().html().unwrap();
    let energy = html.split("<section id=\"energy\">").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(energy.contains("Nothing was recorded for this."));
}

#[test]
fn a_cell_that_failed_stands_there_with_its_reason_and_one_not_measured_has_no_number() {
    let html = sample::page().html().unwrap();
    assert!(
        html.contains("<span class=\"tone bad\">failed</span><small>the runtime has no kernel for RotaryEmbedding")
    );
    assert!(html.contains("<td>not tried<td>-<td>-<td>-"));
}

#[test]
fn the_script_is_small_and_the_style_colours_no_text_alone() {
    let html = sample::page().html().unwrap();
    let script = html.split("<script>").nth(1).unwrap().split("</script>").next().unwrap();
    assert!(script.len() < 24_576, "{} bytes", script.len());
    for tone in ["good", "warn", "bad", "info", "emulated"] {
        assert!(html.contains(&format!(".{tone}::before {{ content: ")), "{tone} has no sign");
    }
}

fn refused(page: Page) -> PageError {
    page.html().unwrap_err()
}

fn with_section(section: Section) -> Page {
    Page { sections: vec![section], ..Page::default() }
}

#[test]
fn what_cannot_be_escaped_is_refused_with_a_way_out() {
    let link = Link { href: "javascript:alert(1)".into(), text: "x".into() };
    let error = refused(Page { links: vec![link], ..Page::default() });
    assert!(error.to_string().contains("links are relative"), "{error}");

    let id = || Section { id: "one".into(), ..Section::default() };
    let error = refused(Page { sections: vec![id(), id()], ..Page::default() });
    assert!(matches!(error, PageError::Taken { .. }), "{error}");
    assert!(matches!(refused(with_section(Section { id: "1 x".into(), ..id() })), PageError::Section { .. }));
    assert!(matches!(refused(with_section(Section { id: "main".into(), ..id() })), PageError::Taken { .. }));

    let filter = |key: &str| Filter { key: key.into(), label: "x".into(), values: vec![] };
    assert!(matches!(refused(Page { filters: vec![filter("q")], ..Page::default() }), PageError::Filter { .. }));
    assert!(matches!(refused(Page { filters: vec![filter("a b")], ..Page::default() }), PageError::Attribute { .. }));

    let table = |attribute: &str| PageTable {
        columns: vec!["a".into(), "b".into()],
        rows: vec![PageRow::new(&[(attribute, "x")], ["1".into()])],
    };
    let figure = |attribute| Figure { title: "Short".into(), table: table(attribute), ..Figure::default() };
    let error = refused(with_section(Section { figures: vec![figure("model")], ..id() }));
    assert_eq!(
        error.to_string(),
        "a row of the table 'Short' has 1 cells under 2 columns: give it a cell for each column"
    );
    let error = refused(with_section(Section { figures: vec![figure("x onclick=alert(1)")], ..id() }));
    assert!(matches!(error, PageError::Attribute { .. }), "{error}");
}
