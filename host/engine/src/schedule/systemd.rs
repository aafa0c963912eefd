//! A service that runs a suite, and the timer that starts it: units of a user's own systemd.

use super::{Job, ScheduleError, When};
use crate::quoted::{one_line, unit, unit_command};

/// The two units, by the names of their files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Units {
    pub service: (String, String),
    pub timer: (String, String),
}

/// The names of the files.
pub fn files(name: &str) -> [String; 2] {
    [format!("{name}.service"), format!("{name}.timer")]
}

/// The units.
///
/// # Errors
/// A path that a unit cannot hold.
pub fn units(job: &Job, when: When) -> Result<Units, ScheduleError> {
    let command = unit_command(&job.command)?;
    let mut environment = String::new();
    for (name, value) in &job.environment {
        environment += &format!("Environment={}\n", unit(name, &format!("{name}={value}"), false)?);
    }
    let description =
        format!("skillbench: {}", one_line("the suite", &job.what)?.replace('%', "%%").trim_end_matches('\\'));
    let (folder, log) = (path("the folder", &job.folder)?, path("the log", &job.log)?);
    let [service, timer] = files(&job.name);
    let service_text = format!(
        "[Unit]\nDescription={description}\n\n[Service]\nType=oneshot\nWorkingDirectory={folder}\n{environment}\
         ExecStart={command}\nStandardOutput=append:{log}\nStandardError=inherit\n"
    );
    // A machine that was off at the time runs the suite when it is on again.
    let timer_text = format!(
        "[Unit]\nDescription={description}\n\n[Timer]\nOnCalendar={}\nPersistent=true\n\n[Install]\nWantedBy=timers.target\n",
        when.calendar()
    );
    Ok(Units { service: (service, service_text), timer: (timer, timer_text) })
}

/// The value of a setting that is one path: no quotes there, and what is at its ends is trimmed.
fn path(what: &str, path: &str) -> Result<String, ScheduleError> {
    let text = one_line(what, path)?;
    match text.ends_with('\\') || text.trim() != text {
        false => Ok(text.replace('%', "%%")),
        true => Err(ScheduleError(format!(
            "{what} '{text}' ends in a space or a backslash, which systemd takes away; --cron keeps it"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Time;

    fn job(folder: &str) -> Job {
        Job {
            name: "skillbench-s-1".into(),
            what: r"/su ite%\".into(),
            command: ["/bin/host", "suite", "run", "/su ite%.json", r#"a "b" $c \d"#].map(String::from).into(),
            folder: folder.into(),
            log: "/lo gs/100%.log".into(),
            environment: [("SKILLBENCH_LOCK".to_string(), "/a b%".to_string())].into(),
        }
    }

    const SUNDAY: When = When::Weekly { day: 0, time: Time { hour: 2, minute: 0 } };

    #[test]
    fn percent_quotes_dollars_and_spaces_are_as_systemd_reads_them_back() {
        let units = units(&job("/wo rk"), SUNDAY).unwrap();
        assert_eq!(
            units.service.1,
            "[Unit]\nDescription=skillbench: /su ite%%\n\n[Service]\nType=oneshot\nWorkingDirectory=/wo rk\n\
             Environment=\"SKILLBENCH_LOCK=/a b%%\"\n\
             ExecStart=\"/bin/host\" \"suite\" \"run\" \"/su ite%%.json\" \"a \\\"b\\\" $$c \\\\d\"\n\
             StandardOutput=append:/lo gs/100%%.log\nStandardError=inherit\n"
        );
        assert!(units.timer.1.contains("\nOnCalendar=Sun *-*-* 02:00:00\nPersistent=true\n"), "{}", units.timer.1);
        assert!(!units.timer.1.contains("RandomizedDelaySec"));
    }

    #[test]
    fn what_a_unit_cannot_hold_is_refused_with_the_way_that_can() {
        for folder in ["/ends in a space ", r"/ends in\"] {
            assert!(units(&job(folder), SUNDAY).unwrap_err().to_string().contains("--cron"));
        }
        let mut odd = job("/w");
        odd.command[0] = r#"/quote"d/host"#.into();
        assert!(units(&odd, SUNDAY).unwrap_err().to_string().contains("--cron"));
        odd = job("/w");
        odd.command[3] = "/a\nb.json".into();
        assert!(units(&odd, SUNDAY).unwrap_err().to_string().contains("line break"));
    }
}
