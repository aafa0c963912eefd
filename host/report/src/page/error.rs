//! Why a page could not be written.

use thiserror::Error;

#[derive(Debug, Error)]
pub enum PageError {
    #[error("'{name}' cannot be the name of an attribute: use small letters, digits and dashes, a letter first")]
    Attribute { name: String },
    #[error("the address already means something else by '{key}': give the filter another key")]
    Filter { key: String },
    #[error("'{id}' cannot be the id of a section: use small letters, digits and dashes, a letter first")]
    Section { id: String },
    #[error("two sections have the id '{id}', or the page itself uses it: give one another id")]
    Taken { id: String },
    #[error("'{href}' does not lead to a page beside this one: links are relative, with forward slashes")]
    Link { href: String },
    #[error("a row of the table '{table}' has {cells} cells under {columns} columns: give it a cell for each column")]
    Row { table: String, cells: usize, columns: usize },
    #[error("the page's template: {0:#}")]
    Template(#[from] minijinja::Error),
    #[error("the page's words: {0}")]
    Words(#[from] toml::de::Error),
}
