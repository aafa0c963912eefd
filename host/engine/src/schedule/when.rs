//! Times that come again.

use super::ScheduleError;
use crate::suite::Schedule;

/// Hours and minutes of the machine's own time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    pub hour: u8,
    pub minute: u8,
}

impl Time {
    /// `None`: it is not "HH:MM".
    pub fn parse(text: &str) -> Option<Time> {
        let (hour, minute) = text.split_once(':')?;
        let below = |text: &str, end: u8| {
            let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|number| digits && *number < end)
        };
        Some(Time { hour: below(hour, 24)?, minute: below(minute, 60)? })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frequency {
    Hourly,
    Daily,
    Weekly,
    Monthly,
}

/// A day on which something is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Day {
    /// 0 is Sunday.
    OfWeek(u8),
    OfMonth(u8),
}

/// The days of the week, as both schedulers write them.
const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/// Every month has this one.
const LAST_OF_ALL_MONTHS: u8 = 28;

impl Day {
    /// # Errors
    /// What was expected.
    pub fn parse(text: &str) -> Result<Day, String> {
        if let Ok(day) = text.parse() {
            return match (1..=LAST_OF_ALL_MONTHS).contains(&day) {
                true => Ok(Day::OfMonth(day)),
                false => Err(format!("expected a day that every month has: 1 to {LAST_OF_ALL_MONTHS}")),
            };
        }
        let names = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
        let text = text.to_lowercase();
        let named = names.iter().position(|name| text.len() >= 3 && name.starts_with(&text));
        named
            .map(|day| Day::OfWeek(day as u8))
            .ok_or("expected a day of the week such as sun, or of the month such as 1".into())
    }
}

/// Every moment at which a suite is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Hourly { minute: u8 },
    Daily(Time),
    Weekly { day: u8, time: Time },
    Monthly { day: u8, time: Time },
}

impl When {
    /// What was asked for, and for the rest what the suite says, and for what is left the usual.
    ///
    /// # Errors
    /// No frequency, or a day that does not go with it.
    pub fn new(
        frequency: Option<Frequency>,
        time: Option<Time>,
        day: Option<Day>,
        suite: Option<&Schedule>,
    ) -> Result<When, ScheduleError> {
        let usual = &skillbench_record::defaults::defaults().schedule;
        let own = suite.filter(|schedule| schedule.enabled);
        let asked = frequency.is_some() || time.is_some() || day.is_some();
        if own.is_none() && !asked {
            let why =
                if suite.is_some() { "the schedule in the suite is not enabled" } else { "the suite has no schedule" };
            return Err(ScheduleError(format!("{why}: name one, with --frequency daily --time 02:00")));
        }
        let of_suite = own.and_then(|own| Frequency::parse(own.frequency.as_deref()?));
        let of_day = || match day? {
            Day::OfWeek(_) => Some(Frequency::Weekly),
            Day::OfMonth(_) => Some(Frequency::Monthly),
        };
        let frequency = frequency.or(of_suite).or_else(of_day).unwrap_or(Frequency::Daily);
        let time = time.or_else(|| own.and_then(|own| Time::parse(own.time.as_deref()?)));
        let time_of_day = time.unwrap_or(Time { hour: usual.hour, minute: usual.minute });
        Ok(match (frequency, day) {
            (Frequency::Hourly, None) => When::Hourly { minute: time.map_or(0, |time| time.minute) },
            (Frequency::Daily, None) => When::Daily(time_of_day),
            (Frequency::Weekly, None) => When::Weekly { day: usual.day_of_week, time: time_of_day },
            (Frequency::Weekly, Some(Day::OfWeek(day))) => When::Weekly { day, time: time_of_day },
            (Frequency::Monthly, None) => When::Monthly { day: usual.day_of_month, time: time_of_day },
            (Frequency::Monthly, Some(Day::OfMonth(day))) => When::Monthly { day, time: time_of_day },
            (_, Some(_)) => {
                let text = "--day goes with --frequency weekly (sun) or monthly (1)";
                return Err(ScheduleError(text.into()));
            }
        })
    }

    /// The first five fields of a line of a crontab.
    pub fn cron(self) -> String {
        match self {
            When::Hourly { minute } => format!("{minute} * * * *"),
            When::Daily(Time { hour, minute }) => format!("{minute} {hour} * * *"),
            When::Weekly { day, time: Time { hour, minute } } => format!("{minute} {hour} * * {day}"),
            When::Monthly { day, time: Time { hour, minute } } => format!("{minute} {hour} {day} * *"),
        }
    }

    /// What a timer of systemd has as `OnCalendar`.
    pub fn calendar(self) -> String {
        let at = |Time { hour, minute }: Time| format!("{hour:02}:{minute:02}:00");
        match self {
            When::Hourly { minute } => format!("*-*-* *:{minute:02}:00"),
            When::Daily(time) => format!("*-*-* {}", at(time)),
            When::Weekly { day, time } => format!("{} *-*-* {}", DAYS[usize::from(day) % DAYS.len()], at(time)),
            When::Monthly { day, time } => format!("*-*-{day:02} {}", at(time)),
        }
    }
}

impl Frequency {
    /// As suites have it.
    pub fn parse(text: &str) -> Option<Frequency> {
        let all = [Frequency::Hourly, Frequency::Daily, Frequency::Weekly, Frequency::Monthly];
        Schedule::FREQUENCIES.iter().zip(all).find(|(name, _)| **name == text).map(|(_, frequency)| frequency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite(enabled: bool, frequency: &str, time: &str) -> Schedule {
        Schedule { enabled, frequency: Some(frequency.into()), time: Some(time.into()) }
    }

    #[test]
    fn each_frequency_is_written_for_both_schedulers() {
        let time = Time::parse("02:05");
        let written = |frequency, day| {
            let when = When::new(Some(frequency), time, day, None).unwrap();
            (when.cron(), when.calendar())
        };
        let pair = |cron: &str, calendar: &str| (cron.to_string(), calendar.to_string());
        assert_eq!(written(Frequency::Hourly, None), pair("5 * * * *", "*-*-* *:05:00"));
        assert_eq!(written(Frequency::Daily, None), pair("5 2 * * *", "*-*-* 02:05:00"));
        assert_eq!(written(Frequency::Weekly, None), pair("5 2 * * 0", "Sun *-*-* 02:05:00"));
        assert_eq!(written(Frequency::Weekly, Some(Day::OfWeek(6))), pair("5 2 * * 6", "Sat *-*-* 02:05:00"));
        assert_eq!(written(Frequency::Monthly, Some(Day::OfMonth(9))), pair("5 2 9 * *", "*-*-09 02:05:00"));
    }

    #[test]
    fn what_is_asked_for_comes_before_what_the_suite_says_and_before_the_usual() {
        let own = suite(true, "weekly", "04:00");
        let asked = |frequency, time| When::new(frequency, time, None, Some(&own)).unwrap().cron();
        assert_eq!(asked(None, None), "0 4 * * 0");
        assert_eq!(asked(Some(Frequency::Daily), None), "0 4 * * *");
        assert_eq!(asked(None, Time::parse("23:59")), "59 23 * * 0");
        assert_eq!(When::new(Some(Frequency::Weekly), None, None, None).unwrap().cron(), "0 2 * * 0");
        let weekly_by_its_day = When::new(None, None, Some(Day::OfWeek(3)), None).unwrap();
        assert_eq!(weekly_by_its_day.cron(), "0 2 * * 3");
    }

    #[test]
    fn a_suite_that_names_no_time_of_its_own_has_to_be_told_one() {
        let off = suite(false, "daily", "02:00");
        let told = |suite| When::new(None, None, None, suite).unwrap_err().to_string();
        assert!(told(Some(&off)).contains("is not enabled"));
        assert!(told(None).contains("has no schedule: name one, with --frequency"));
        assert!(When::new(Some(Frequency::Daily), None, None, Some(&off)).is_ok());
        assert!(When::new(Some(Frequency::Daily), None, Some(Day::OfWeek(0)), None).is_err());
        assert!(When::new(Some(Frequency::Monthly), None, Some(Day::OfWeek(0)), None).is_err());
    }

    #[test]
    fn times_and_days_that_are_none_are_refused() {
        assert_eq!(Time::parse("23:59"), Some(Time { hour: 23, minute: 59 }));
        for text in ["25:00", "24:00", "02:60", "2:00", "02:0", "0200", "", "+2:00", "02:00:00"] {
            assert_eq!(Time::parse(text), None, "{text}");
        }
        for (text, day) in [("sun", 0), ("Saturday", 6), ("THU", 4), ("thurs", 4)] {
            assert_eq!(Day::parse(text), Ok(Day::OfWeek(day)));
        }
        for text in ["", "s", "su", "someday", "0", "29", "-1", "sundays"] {
            assert!(Day::parse(text).is_err(), "{text}");
        }
    }
}
