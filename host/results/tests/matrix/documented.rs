//! docs/matrix.md says what the rule's file says.

use skillbench_results::matrix::rule;

fn page() -> String {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/matrix.md");
    std::fs::read_to_string(file).unwrap()
}

#[test]
fn every_rating_stands_in_the_page_with_its_bound_its_colour_and_its_meaning() {
    let page = page();
    for rating in &rule().ratings {
        let bound = rating.at_least.map_or("–".into(), |least| format!("{least}"));
        let row = format!("| {} | {bound} | {} | `{}` |", rating.name.name(), rating.meaning, rating.colour);
        assert!(page.contains(&row), "docs/matrix.md lacks: {row}");
    }
}

#[test]
fn every_status_stands_in_the_page_with_its_meaning() {
    let page = page();
    for status in &rule().statuses {
        let row = format!("| {} | {} |", status.name.name(), status.meaning);
        assert!(page.contains(&row), "docs/matrix.md lacks: {row}");
    }
}

#[test]
fn the_rest_of_the_rule_stands_in_the_page() {
    let (page, rule) = (page(), rule());
    for text in [&rule.baseline, &rule.benchmark, &rule.precisions.join(", "), &rule.hardware.join(", ")] {
        assert!(page.contains(text), "docs/matrix.md lacks: {text}");
    }
    for (other, ours) in &rule.alias {
        assert!(page.contains(&format!("`{other}` is read as `{ours}`")), "docs/matrix.md lacks the name {other}");
    }
}
