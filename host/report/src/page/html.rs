//! Writing a page.

use super::view::View;
use super::{Page, PageError, check, embed};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};

const TEMPLATE: &str = include_str!("look/page.html");
const FIGURE: &str = include_str!("look/figure.html");
const DECISIONS: &str = include_str!("look/decisions.html");
const DECIDE: &str = include_str!("look/decide.js");
const SHARE: &str = include_str!("look/share.js");
const STYLE: &str = include_str!("look/style.css");
const SCRIPT: &str = include_str!("look/script.js");
const WORDS: &str = include_str!("look/words.toml");

impl Page {
    /// The page as one file.
    ///
    /// # Errors
    /// Where a name, an id or a link in it cannot be part of a page, and where a row does not fit its table.
    pub fn html(&self) -> Result<String, PageError> {
        check::page(self)?;
        let words: toml::Table = toml::from_str(WORDS)?;
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
        environment.add_template("figure.html", FIGURE)?;
        environment.add_template("decisions.html", DECISIONS)?;
        environment.add_template("page.html", TEMPLATE)?;
        // Browsers read line ends as one character before they compare a script with the policy.
        let script = format!("{DECIDE}{SHARE}{SCRIPT}").replace('\r', "");
        let (style, policy) = (STYLE, embed::policy(&script));
        let context = context! { page => Serde(View::of(self)), words => Serde(words), style, script, policy };
        Ok(environment.get_template("page.html")?.render(context)?)
    }
}
