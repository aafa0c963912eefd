//! Texts as words of a line that another program reads: a shell, or systemd.

/// A text that cannot stand there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unquotable {
    #[error("{what} {text:?} has a line break or a control character, which no line can hold")]
    Lines { what: String, text: String },
    #[error("{0}: systemd starts no program with a quote or a backslash in its path: link to it from another place")]
    Program(String),
    #[error("there is no command")]
    Nothing,
}

/// # Errors
/// The text would not end up in one line.
pub fn one_line<'a>(what: &str, text: &'a str) -> Result<&'a str, Unquotable> {
    match text.chars().any(char::is_control) {
        false => Ok(text),
        true => Err(Unquotable::Lines { what: what.into(), text: text.into() }),
    }
}

/// A word for a shell, as POSIX has it.
///
/// # Errors
/// As [`one_line`].
pub fn shell(what: &str, text: &str) -> Result<String, Unquotable> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@".contains(c);
    let text = one_line(what, text)?;
    Ok(match !text.is_empty() && text.chars().all(plain) {
        true => text.into(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    })
}

/// A word of a setting of systemd that takes several. Where systemd puts variables in, `$` stands for itself only twice.
///
/// # Errors
/// As [`one_line`].
pub fn unit(what: &str, text: &str, has_variables: bool) -> Result<String, Unquotable> {
    let text = one_line(what, text)?.replace('\\', r"\\").replace('"', r#"\""#).replace('%', "%%");
    let text = if has_variables { text.replace('$', "$$") } else { text };
    Ok(format!("\"{text}\""))
}

/// A command as `ExecStart` of a unit takes it: a program and its arguments.
///
/// # Errors
/// As [`one_line`]; or it has no program that systemd starts.
pub fn unit_command(words: &[String]) -> Result<String, Unquotable> {
    let (program, arguments) = words.split_first().ok_or(Unquotable::Nothing)?;
    // The path of a program is looked up before quotes mean anything.
    if program.contains(['"', '\'', '\\']) {
        return Err(Unquotable::Program(program.clone()));
    }
    let mut command = unit("the program", program, false)?;
    for argument in arguments {
        command += &format!(" {}", unit("the argument", argument, true)?);
    }
    Ok(command)
}
