//! What escaping cannot mend: names of attributes, ids, and where links lead.

use super::model::{Page, PageTable};
use super::{Figure, PageError, Section};
use std::collections::{BTreeMap, BTreeSet};

/// Ids that the template uses itself.
const OWN: [&str; 9] =
    ["main", "notes", "provenance", "decisions", "decided", "standings", "data-json", "data-csv", "data-decisions"];

/// What the address keeps beside filters.
const ADDRESS: [&str; 5] = ["q", "sort", "theme", "metric", "at"];

/// # Errors
/// The first thing that cannot be part of a page.
pub fn page(page: &Page) -> Result<(), PageError> {
    for link in &page.links {
        href(&link.href)?;
    }
    for filter in &page.filters {
        attribute(&filter.key)?;
        if ADDRESS.contains(&filter.key.as_str()) {
            return Err(PageError::Filter { key: filter.key.clone() });
        }
    }
    let mut taken = BTreeSet::from(OWN);
    for section in &page.sections {
        if !is_name(&section.id) {
            return Err(PageError::Section { id: section.id.clone() });
        }
        if !taken.insert(&section.id) {
            return Err(PageError::Taken { id: section.id.clone() });
        }
        self::section(section)?;
    }
    Ok(())
}

fn section(section: &Section) -> Result<(), PageError> {
    for finding in &section.findings {
        attributes(&finding.attributes)?;
    }
    for Figure { title, table, attributes, .. } in &section.figures {
        self::attributes(attributes)?;
        self::table(title, table)?;
    }
    Ok(())
}

fn table(title: &str, table: &PageTable) -> Result<(), PageError> {
    let columns = table.columns.len();
    for row in &table.rows {
        attributes(&row.attributes)?;
        let cells = row.cells.len();
        if cells != columns {
            return Err(PageError::Row { table: title.into(), cells, columns });
        }
        for target in row.cells.iter().filter_map(|cell| cell.href.as_deref()) {
            href(target)?;
        }
    }
    Ok(())
}

fn attributes(attributes: &BTreeMap<String, String>) -> Result<(), PageError> {
    attributes.keys().try_for_each(|name| attribute(name))
}

fn attribute(name: &str) -> Result<(), PageError> {
    if is_name(name) { Ok(()) } else { Err(PageError::Attribute { name: name.into() }) }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// A relative address. A colon in its first step would make a scheme of it, and browsers take backslashes for slashes and
/// leave out control characters.
fn href(href: &str) -> Result<(), PageError> {
    let first = href.split(['/', '?', '#']).next().unwrap_or_default();
    let odd = |character: char| character.is_control() || character == '\\';
    if href.is_empty() || href.starts_with([' ', '/']) || first.contains(':') || href.contains(odd) {
        return Err(PageError::Link { href: href.into() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::href;

    #[test]
    fn links_lead_to_pages_beside_this_one_and_nowhere_else() {
        for good in ["models/bert.html", "../index.html#cpu", "run.html?x=a:b", "./a:b.html", "#latency"] {
            assert!(href(good).is_ok(), "{good}");
        }
        for bad in ["", "/etc", "//host/x", "http://host", "javascript:alert(1)", "java\nscript:x", "\\\\host", " x:y"]
        {
            assert!(href(bad).is_err(), "{bad:?}");
        }
    }
}
