//! `host completions` and `host man`: what shells and `man` know of the command line, made from its grammar.

use super::{Done, Exit, failed};
use crate::{called, cli, output};
use clap_complete::Shell;
use std::path::Path;

pub fn completions(shell: Shell) -> Done {
    let mut script = vec![];
    clap_complete::generate(shell, &mut cli::command(), called::name(), &mut script);
    output::print(&String::from_utf8_lossy(&script));
    Ok(Exit::Good)
}

/// One page for each command: `NAME-run.1`.
pub fn man(folder: &Path) -> Done {
    let told = |error: std::io::Error| failed(format!("{}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(told)?;
    clap_mangen::generate_to(cli::command(), folder).map_err(told)?;
    output::say(&format!("manual pages are in {}", folder.display()));
    Ok(Exit::Good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_flag_excludes_one_that_its_command_does_not_have() {
        // Where one does, zsh's is not made.
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let mut script = vec![];
            clap_complete::generate(shell, &mut cli::command(), "host", &mut script);
            assert!(!script.is_empty());
        }
    }
}
