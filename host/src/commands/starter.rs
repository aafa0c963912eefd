//! The text of a suite to begin with, in TOML: every key with what its flag says of it, those that ask for nothing behind a `#`.

use super::{CommandError, failed};
use crate::cli;
use clap::{Arg, Command};
use skillbench_engine::suite::{SuiteFile, suite_schema};
use toml::{Table, Value};

/// A value for each key.
const EXAMPLES: &str = include_str!("starter.toml");

const HEAD: &str = "\
# What to run. Lines behind a # are examples: take the # away and set what you want. `NAME run FILE` runs it, `NAME check FILE`
# says what it would measure, and flags next to FILE count in place of what stands here.
";

const SCHEDULE: &str = "\
# When it is run again; `NAME schedule install` hands that to the machine's own scheduler.
# [schedule]
# enabled = true
# frequency = \"daily\"
# time = \"02:30\"
";

/// # Errors
/// A value that TOML cannot hold.
pub fn commented(suite: &SuiteFile) -> Result<String, CommandError> {
    let mut asked = Table::try_from(suite).map_err(|error| failed(error.to_string()))?;
    if let Some(Value::Table(families)) = asked.remove("model_families") {
        let models: Vec<Value> =
            families.values().flat_map(|ids| ids.as_array().cloned().unwrap_or_default()).collect();
        asked.insert("models".into(), Value::Array(models));
    }
    let examples: Table = EXAMPLES.parse().map_err(|error: toml::de::Error| failed(error.to_string()))?;
    let defaults = Table::try_from(SuiteFile::default()).map_err(|error| failed(error.to_string()))?;
    let named = |text: &str| text.replace("NAME", &format!("{} suite", crate::called::name()));
    let command = cli::command();
    let flags = command.find_subcommand("run").into_iter().flat_map(Command::get_arguments);
    let mut keys: Vec<(&str, String)> =
        flags.map(|flag| (key_of(flag), flag.get_help().map(ToString::to_string).unwrap_or_default())).collect();
    let schema = suite_schema();
    // What no flag of a run says is a key of suites alone.
    let others = SuiteFile::KEYS.into_iter().filter(|key| keys.iter().all(|(known, _)| known != key));
    let description = |key: &str| schema["properties"][key]["description"].as_str().unwrap_or_default().to_string();
    let others: Vec<(&str, String)> = others.map(|key| (key, description(key))).collect();
    keys.extend(others);
    let mut text = named(HEAD);
    for (key, help) in keys {
        let Some(example) = examples.get(key) else { continue };
        text += "\n";
        for line in help.lines() {
            text += &format!("# {line}\n");
        }
        match asked.get(key).filter(|value| defaults.get(key) != Some(value)) {
            Some(value) => text += &format!("{key} = {value}\n"),
            None => text += &format!("# {key} = {example}\n"),
        }
    }
    Ok(text + "\n" + &named(SCHEDULE))
}

/// The key of a suite that says what a flag says.
fn key_of(flag: &Arg) -> &str {
    let id = flag.get_id().as_str();
    SuiteFile::OTHER_NAMES.iter().find(|(other, _)| *other == id).map_or(id, |(_, key)| key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_engine::suite::parse;
    use std::path::Path;

    /// Keys without a flag, or whose flag says another thing.
    const APART: [&str; 3] = ["families", "model_families", "schedule"];

    #[test]
    fn each_key_has_an_example_that_can_be_read() {
        let suite = parse(EXAMPLES, Path::new("starter.toml")).unwrap();
        let examples: Table = EXAMPLES.parse().unwrap();
        for key in SuiteFile::KEYS.into_iter().filter(|key| !APART.contains(key)) {
            assert!(examples.contains_key(key), "{key} has no example");
        }
        assert_eq!(suite.limits, ["latency_ms.p90<=20"]);
    }

    #[test]
    fn a_suite_is_what_was_asked_for_and_each_line_behind_a_sign_can_be_taken_up() {
        let asked = SuiteFile { budget: Some(0.5), batch_sizes: vec![3], ..SuiteFile::default() };
        let text = commented(&asked).unwrap();
        let read = |text: &str| parse(text, Path::new("suite.toml")).unwrap();
        assert_eq!(read(&text), asked, "{text}");
        let all = EXAMPLES.parse::<Table>().unwrap();
        let uncommented = |line: &str| match line.strip_prefix("# ").and_then(|line| line.split_once(" = ")) {
            Some((key, value)) if all.contains_key(key) => format!("{key} = {value}"),
            _ => line.to_string(),
        };
        let taken_up: String = text.lines().map(|line| uncommented(line) + "\n").collect();
        let suite = read(&taken_up);
        assert_eq!((suite.threads, suite.budget, suite.verify_only), (Some(4), Some(0.5), true), "{taken_up}");
        for key in all.keys() {
            assert!(taken_up.contains(&format!("\n{key} = ")), "{key} is not in {taken_up}");
        }
    }
}
