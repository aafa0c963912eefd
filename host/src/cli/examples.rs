//! The examples at the end of every command's help. They are data: `examples.toml`.

use crate::called;
use clap::Command;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static EXAMPLES: LazyLock<BTreeMap<String, Vec<String>>> =
    LazyLock::new(|| toml::from_str(include_str!("examples.toml")).expect("a test reads it"));

/// A command and all its subcommands, each with its examples.
pub fn with_examples(command: Command) -> Command {
    of(command, "")
}

/// `above`: the names of the commands that it is in, but for the first.
fn of(command: Command, above: &str) -> Command {
    let path = match (command.get_name(), above) {
        ("host", "") => "host".to_string(),
        (name, "") => name.to_string(),
        (name, above) => format!("{above} {name}"),
    };
    let inner = if path == "host" { String::new() } else { path.clone() };
    let command = command.mut_subcommands(|subcommand| of(subcommand, &inner));
    match EXAMPLES.get(&path) {
        Some(lines) => {
            let lines: Vec<String> = lines.iter().map(|line| format!("  {}", called::named(line))).collect();
            command.after_help(format!("Examples:\n{}", lines.join("\n")))
        }
        None => command,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::{CommandFactory, Parser};

    /// The words of a line; quotes hold a word together.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut quote = None;
        for letter in line.chars() {
            match (letter, quote) {
                ('"' | '\'', None) => quote = Some(letter),
                (letter, Some(open)) if letter == open => quote = None,
                (' ', None) => words.push(String::new()),
                (letter, _) => words.last_mut().unwrap().push(letter),
            }
        }
        words
    }

    fn paths(command: &Command, above: &str, found: &mut Vec<String>) {
        for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
            let path = format!("{above} {}", inner.get_name()).trim().to_string();
            paths(inner, &path, found);
            found.push(path);
        }
    }

    #[test]
    fn every_command_has_examples_that_parse() {
        let mut found = vec!["host".to_string()];
        paths(&Cli::command(), "", &mut found);
        found.sort();
        assert_eq!(found, EXAMPLES.keys().cloned().collect::<Vec<_>>());
        for line in EXAMPLES.values().flatten() {
            Cli::try_parse_from(words(line)).map_err(|error| format!("{line}\n{error}")).map(drop).unwrap();
        }
        for (path, lines) in EXAMPLES.iter().filter(|(path, _)| *path != "host") {
            assert!(lines.iter().any(|line| line.starts_with(&format!("host {path}"))), "{path}");
        }
    }

    #[test]
    fn help_ends_with_the_examples() {
        let help = with_examples(Cli::command()).try_get_matches_from(["host", "plugin", "add", "--help"]);
        let help = help.unwrap_err().to_string();
        let (_, examples) = help.split_once("Examples:\n").unwrap();
        assert!(examples.trim_end().ends_with("\n  host plugin add ./libmine.so --id mine --pin"), "{help}");
    }
}
