//! The name that this program was called by: `host` in a build, `skillbench` where it was installed. What people read names it so.

use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;

/// The name in this project's texts.
const OWN: &str = "host";

static NAME: OnceLock<String> = OnceLock::new();
static COMMANDS: OnceLock<Vec<String>> = OnceLock::new();

/// Remembers what the program was called by, and its commands.
pub fn remember(program: Option<OsString>, commands: Vec<String>) {
    _ = NAME.set(name_of(program.as_deref().map(Path::new)));
    _ = COMMANDS.set(commands);
}

pub fn name() -> &'static str {
    NAME.get().map_or(OWN, String::as_str)
}

fn name_of(program: Option<&Path>) -> String {
    let name = program.and_then(Path::file_stem).and_then(|name| name.to_str()).unwrap_or_default();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let usable = !name.is_empty() && name.chars().all(is_plain);
    if usable { name.into() } else { OWN.into() }
}

/// A text with the program's commands under the name that it was called by: "run `host runtime install cpu`".
pub fn named(text: &str) -> String {
    match name() {
        OWN => text.into(),
        name => renamed(text, name, COMMANDS.get().map_or(&[], Vec::as_slice)),
    }
}

fn renamed(text: &str, name: &str, commands: &[String]) -> String {
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(OWN) {
        let (before, after) = (&rest[..at], &rest[at + OWN.len()..]);
        let begins_word = before.chars().next_back().is_none_or(|letter| " `'\"(\n".contains(letter));
        let next: String =
            after.strip_prefix(' ').unwrap_or_default().chars().take_while(char::is_ascii_lowercase).collect();
        let is_command = begins_word && commands.contains(&next);
        told.push_str(before);
        told.push_str(if is_command { name } else { OWN });
        rest = after;
    }
    told + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_that_of_the_file_that_was_called() {
        assert_eq!(name_of(Some(Path::new("/usr/bin/skillbench"))), "skillbench");
        assert_eq!(name_of(Some(Path::new("/usr/bin/skill bench\u{7}"))), "host");
        assert_eq!(name_of(None), "host");
    }

    #[test]
    fn commands_are_named_as_they_were_called_and_other_hosts_stay() {
        let commands = ["run", "runtime"].map(String::from);
        let renamed = |text| renamed(text, "skillbench", &commands);
        assert_eq!(renamed("run `host runtime install cpu`"), "run `skillbench runtime install cpu`");
        assert_eq!(renamed("host run --plugin cpu"), "skillbench run --plugin cpu");
        let other = "this host runs on a localhost run by the host running it";
        assert_eq!(renamed(other), other);
    }
}
