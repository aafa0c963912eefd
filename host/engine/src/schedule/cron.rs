//! A line of a crontab, and the block around it by which it is found again.

use super::{Job, ScheduleError, When};
use crate::quoted::shell;

/// The cron of Debian and of BSD refuses a longer command.
const LONGEST: usize = 998;

/// The line.
///
/// # Errors
/// A text that cannot stand in a line; a line that is too long.
pub fn line(job: &Job, when: When) -> Result<String, ScheduleError> {
    let mut command = format!("cd {} &&", shell("the folder", &job.folder)?);
    if !job.environment.is_empty() {
        command += " env";
    }
    for (name, value) in &job.environment {
        command += &format!(" {name}={}", shell(name, value)?);
    }
    for argument in &job.command {
        command += &format!(" {}", shell("the argument", argument)?);
    }
    command += &format!(" >> {} 2>&1", shell("the log", &job.log)?);
    let command = without_percent(&command);
    match command.len() > LONGEST {
        false => Ok(format!("{} {command}", when.cron())),
        true => Err(ScheduleError(format!(
            "the line for cron has {} bytes, and cron takes {LONGEST}; shorter paths fit, or --systemd",
            command.len()
        ))),
    }
}

/// Cron ends a command at a bare `%`. It takes the backslash away before one, and sees a backslash only where no other is before it: a
/// pair of quotes parts what is the text's own from what is not.
fn without_percent(command: &str) -> String {
    let mut told = String::with_capacity(command.len());
    for c in command.chars() {
        if c == '%' {
            told += if told.ends_with('\\') { r"''\" } else { r"\" };
        }
        told.push(c);
    }
    told
}

fn marks(name: &str) -> (String, String) {
    (format!("# begin {name}: written by `host schedule`, replaced as a whole"), format!("# end {name}"))
}

/// A crontab with the block of this name in it: in the place of the one that is there, or at the end.
///
/// # Errors
/// A block that has lost its end.
pub fn with(crontab: &str, name: &str, line: &str) -> Result<String, ScheduleError> {
    let (begin, end) = marks(name);
    let block = format!("{begin}\n{line}\n{end}\n");
    let (before, after) = match parts(crontab, name)? {
        Some((before, after)) => (before, after),
        None => (crontab.to_string(), String::new()),
    };
    let line_end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    Ok(format!("{before}{line_end}{block}{after}"))
}

/// A crontab without the block of this name; `None`: it has none.
///
/// # Errors
/// A block that has lost its end.
pub fn without(crontab: &str, name: &str) -> Result<Option<String>, ScheduleError> {
    Ok(parts(crontab, name)?.map(|(before, after)| before + &after))
}

/// What stands before the block, and what after it.
fn parts(crontab: &str, name: &str) -> Result<Option<(String, String)>, ScheduleError> {
    let (begin, end) = marks(name);
    let begins = |line: &str| line.trim_end() == begin || line.starts_with(&format!("# begin {name}:"));
    let lines: Vec<&str> = crontab.split_inclusive('\n').collect();
    let Some(first) = lines.iter().position(|line| begins(line)) else { return Ok(None) };
    let length = lines[first..].iter().position(|line| line.trim_end() == end).ok_or_else(|| {
        ScheduleError(format!("the crontab has '# begin {name}' without '# end {name}'; mend it with `crontab -e`"))
    })?;
    Ok(Some((lines[..first].concat(), lines[first + length + 1..].concat())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Time;

    fn job(folder: &str, arguments: &[&str]) -> Job {
        Job {
            name: "skillbench-s-1".into(),
            what: "/s.json".into(),
            command: arguments.iter().map(|text| text.to_string()).collect(),
            folder: folder.into(),
            log: "/logs/s.log".into(),
            environment: Default::default(),
        }
    }

    const AT_TWO: When = When::Daily(Time { hour: 2, minute: 0 });

    #[test]
    fn a_plain_line_is_a_plain_line() {
        let line = line(&job("/work", &["/bin/host", "suite", "run", "/s.json"]), AT_TWO).unwrap();
        assert_eq!(line, "0 2 * * * cd /work && /bin/host suite run /s.json >> /logs/s.log 2>&1");
    }

    /// What cron hands to the shell: the text up to a bare `%`, with the backslash taken away before another.
    fn as_cron_reads(command: &str) -> String {
        let (mut read, mut escaped) = (String::new(), false);
        for c in command.chars() {
            match (escaped, c) {
                (true, '%') => {
                    read.pop();
                    read.push('%');
                }
                (false, '%') => break,
                (_, c) => read.push(c),
            }
            escaped = !escaped && c == '\\';
        }
        read
    }

    #[cfg(unix)]
    #[test]
    fn the_shell_that_cron_starts_gets_every_argument_as_it_was() {
        let odd =
            ["with space", "100%", r"back\slash", r"both\%", r"two\\%%", "quote'd \"twice\"", "$HOME `x` ;&", "", "*"];
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("l o%g");
        let arguments = [&["printf", "%s|"][..], &odd].concat();
        let environment = [("ODD".to_string(), "a b%".to_string())].into();
        let folder = folder.path().to_string_lossy();
        let job = Job { log: log.to_string_lossy().into_owned(), environment, ..job(&folder, &arguments) };
        let line = line(&job, AT_TWO).unwrap();
        let command = as_cron_reads(line.strip_prefix("0 2 * * * ").unwrap());
        let ran = std::process::Command::new("sh").args(["-c", &command]).status().unwrap();
        assert!(ran.success(), "{command}");
        let printed = std::fs::read_to_string(&log).unwrap();
        assert_eq!(printed.split('|').collect::<Vec<_>>(), [&odd[..], &[""]].concat(), "{command}");
    }

    #[test]
    fn what_cannot_stand_in_a_line_is_refused() {
        assert!(line(&job("/a\nb", &["host"]), AT_TWO).unwrap_err().to_string().contains("line break"));
        assert!(line(&job("/a", &["host", &"x".repeat(1000)]), AT_TWO).unwrap_err().to_string().contains("--systemd"));
    }

    #[test]
    fn a_block_is_replaced_and_not_doubled_and_all_else_stays() {
        let theirs = "MAILTO=me\n# mine\n5 4 * * * tidy";
        let once = with(theirs, "skillbench-s-1", "one").unwrap();
        assert!(once.starts_with("MAILTO=me\n# mine\n5 4 * * * tidy\n# begin skillbench-s-1:"), "{once}");
        let other = with(&once, "skillbench-s-12", "other").unwrap();
        let twice = with(&other, "skillbench-s-1", "two").unwrap();
        assert_eq!(twice, other.replace("\none\n", "\ntwo\n"));
        assert_eq!(without(&once, "skillbench-s-1").unwrap().unwrap(), format!("{theirs}\n"));
        assert_eq!(without(theirs, "skillbench-s-1").unwrap(), None);
        assert_eq!(without(&with("", "a", "l").unwrap(), "a").unwrap().unwrap(), "");
    }

    #[test]
    fn a_block_without_an_end_is_left_alone() {
        let broken = "# begin a: by hand\n5 4 * * * tidy\n";
        assert!(with(broken, "a", "line").unwrap_err().to_string().contains("crontab -e"));
        assert!(without(broken, "a").is_err());
    }
}
