//! Lines against time, with marks where something changed.

use chrono::{DateTime, Datelike, Duration, Months, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use serde::{Deserialize, Serialize};

use super::series::{Plot, Series, xs, y_domain};
use super::shared::thinned;
use crate::attributes::Attributes;
use crate::chart::{Head, Kind};
use crate::draw::Area;
use crate::draw::axis::{Axis, Domain, Plane};
use crate::draw::scene::{Scene, Style, Type};
use crate::draw::theme::Paint;
use crate::look::Look;
use crate::text;

/// Series against time: each point's x is in seconds since 1970, shown as a date of UTC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trend {
    pub head: Head,
    pub y_label: String,
    pub unit: String,
    pub y_log: bool,
    pub series: Vec<Series>,
    pub changes: Vec<Change>,
}

/// A moment at which something changed, such as a driver.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Change {
    pub at: f64,
    pub label: String,
    pub attributes: Attributes,
}

/// An axis of time is at least as many seconds wide.
const NARROWEST: f64 = 60.0;

/// Years that dates are written for: 1 to 9999.
fn is_time(seconds: f64) -> bool {
    (-62_135_596_800.0..253_402_300_800.0).contains(&seconds)
}

fn moment(seconds: f64) -> Option<NaiveDateTime> {
    is_time(seconds).then(|| DateTime::<Utc>::from_timestamp(seconds.floor() as i64, 0))?.map(|time| time.naive_utc())
}

fn say(seconds: f64) -> String {
    moment(seconds).map_or_else(String::new, |time| time.format("%Y-%m-%d %H:%M:%S UTC").to_string())
}

impl Trend {
    fn domain(&self) -> Domain {
        let drawn = xs(&self.series, &is_time);
        let changes = self.changes.iter().map(|change| change.at).filter(|at| is_time(*at));
        let domain = Domain::of(drawn.into_iter().chain(changes)).unwrap_or(Domain { low: 0.0, high: DAY as f64 });
        let room = (NARROWEST - (domain.high - domain.low)).max(0.0) / 2.0;
        Domain { low: domain.low - room, high: domain.high + room }
    }

    fn plot<'a>(&'a self, x_label: &'a str) -> Plot<'a> {
        let domain = y_domain(&self.series, &is_time).unwrap_or(Domain { low: 0.0, high: 1.0 });
        // Small changes are what a trend is looked at for; so 0 is there only where it is near.
        let near = domain.low >= 0.0 && domain.low < 0.4 * domain.high;
        let y = match domain {
            Domain { low, high } if low == high && low == 0.0 => Axis::to_ticks(Domain { low: 0.0, high: 1.0 }, 6),
            domain if self.y_log && domain.low > 0.0 => Axis::logarithmic(domain, 6),
            domain if near => Axis::to_ticks(domain.with(0.0), 6),
            domain => Axis::to_ticks(domain, 6),
        };
        Plot {
            series: &self.series,
            guides: &[],
            x_label,
            y_label: &self.y_label,
            unit: &self.unit,
            y,
            say_x: &say,
            is_x: &is_time,
        }
    }

    fn draw_changes(&self, scene: &mut Scene, plane: &Plane) {
        let mut changes: Vec<&Change> = self.changes.iter().filter(|change| is_time(change.at)).collect();
        changes.sort_by(|one, two| one.at.total_cmp(&two.at));
        let mut free = f64::NEG_INFINITY;
        for change in changes {
            let x = plane.x(change.at);
            let title = format!("{}: {}", say(change.at), change.label);
            let label = text::fit(&change.label, 110.0, 9.0, false);
            let width = text::width(&label, 9.0, false);
            let left = (x + 3.0).min(plane.area.right() - width);
            scene.mark("mark change", &[], &change.attributes, &title, |scene| {
                scene.line(&[(x, plane.area.y), (x, plane.area.bottom())], Style::line(Paint::Soft, 1.0).dash("2 2"));
                if left >= free {
                    scene.text(left, plane.area.y + 9.0, Type::soft(9.0), &label);
                    free = left + width + 6.0;
                }
            });
        }
    }
}

impl Kind for Trend {
    fn head(&self) -> &Head {
        &self.head
    }

    fn is_empty(&self) -> bool {
        y_domain(&self.series, &is_time).is_none()
    }

    fn natural_height(&self, width: f64) -> f64 {
        self.plot("time").natural_height(&Look::default(), width)
    }

    fn least_height(&self, width: f64) -> f64 {
        self.plot("time").least_height(&Look::default(), width)
    }

    fn draw(&self, scene: &mut Scene, look: &Look, body: Area) {
        let domain = self.domain();
        let day = |seconds: f64| moment(seconds).map_or_else(String::new, |time| time.format("%Y-%m-%d").to_string());
        let (first, last) = (day(domain.low), day(domain.high));
        let x_label = if first == last { format!("{first}, UTC") } else { format!("{first} – {last}, UTC") };
        let axis = |width: f64| {
            let axis = Axis::linear(domain, 2).padded(0.02);
            let ticks = thinned(time_ticks(domain, (width / 75.0).max(2.0)), |x| width * axis.share(x));
            axis.ticked(ticks)
        };
        let plane = self.plot(&x_label).draw(scene, look, body, &axis);
        self.draw_changes(scene, &plane);
    }
}

/// A step between ticks, and how the time is written at one.
enum Step {
    Seconds(i64, &'static str),
    Months(u32, &'static str),
}

const DAY: i64 = 86_400;

const STEPS: [Step; 24] = [
    Step::Seconds(5, "%H:%M:%S"),
    Step::Seconds(10, "%H:%M:%S"),
    Step::Seconds(30, "%H:%M:%S"),
    Step::Seconds(60, "%H:%M"),
    Step::Seconds(300, "%H:%M"),
    Step::Seconds(900, "%H:%M"),
    Step::Seconds(1_800, "%H:%M"),
    Step::Seconds(3_600, "%-d %b %H:%M"),
    Step::Seconds(10_800, "%-d %b %H:%M"),
    Step::Seconds(21_600, "%-d %b %H:%M"),
    Step::Seconds(43_200, "%-d %b %H:%M"),
    Step::Seconds(86_400, "%-d %b"),
    Step::Seconds(172_800, "%-d %b"),
    Step::Seconds(604_800, "%-d %b"),
    Step::Seconds(1_209_600, "%-d %b"),
    Step::Months(1, "%b %Y"),
    Step::Months(3, "%b %Y"),
    Step::Months(6, "%b %Y"),
    Step::Months(12, "%Y"),
    Step::Months(24, "%Y"),
    Step::Months(60, "%Y"),
    Step::Months(120, "%Y"),
    Step::Months(1200, "%Y"),
    Step::Months(12_000, "%Y"),
];

fn time_ticks(domain: Domain, most: f64) -> Vec<(f64, String)> {
    let span = domain.high - domain.low;
    let seconds = |step: &Step| match step {
        Step::Seconds(seconds, _) => *seconds as f64,
        Step::Months(months, _) => f64::from(*months) * 30.44 * 86_400.0,
    };
    let step = STEPS.iter().find(|step| span / seconds(step) <= most).unwrap_or(&STEPS[STEPS.len() - 1]);
    let (Some(start), Some(end)) = (moment(domain.low), moment(domain.high)) else {
        return Vec::new();
    };
    let (mut tick, format) = match step {
        Step::Seconds(seconds, format) => {
            let day = start.date().and_time(NaiveTime::MIN);
            let into = (start - day).num_seconds();
            (day + Duration::seconds(into - into % seconds.min(&DAY)), *format)
        }
        Step::Months(months, format) => {
            let count = start.year() * 12 + start.month0() as i32;
            let first = count - count.rem_euclid(*months as i32);
            let date = NaiveDate::from_ymd_opt(first.div_euclid(12), first.rem_euclid(12) as u32 + 1, 1);
            (date.unwrap_or(start.date()).and_time(NaiveTime::MIN), *format)
        }
    };
    let mut ticks = Vec::new();
    while tick <= end && ticks.len() < 100 {
        if tick >= start {
            ticks.push((tick.and_utc().timestamp() as f64, tick.format(format).to_string()));
        }
        let next = match step {
            Step::Seconds(seconds, _) => tick.checked_add_signed(Duration::seconds(*seconds)),
            Step::Months(months, _) => tick.checked_add_months(Months::new(*months)),
        };
        let Some(next) = next else { break };
        tick = next;
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Estimate;
    use crate::kinds::Point;

    fn labels(low: f64, high: f64) -> Vec<String> {
        time_ticks(Domain { low, high }, 6.0).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_of_time_are_at_round_moments() {
        let day = 86_400.0;
        // 2025-12-01 00:00 UTC
        let start = 1_764_547_200.0;
        assert_eq!(labels(start, start + 50.0)[..2], ["00:00:00", "00:00:10"]);
        assert_eq!(labels(start, start + 120.0), ["00:00:00", "00:00:30", "00:01:00", "00:01:30", "00:02:00"]);
        assert_eq!(labels(start, start + 90.0 * 60.0), ["00:00", "00:15", "00:30", "00:45", "01:00", "01:15", "01:30"]);
        assert_eq!(labels(start + 1.0, start + 3.0 * day)[..2], ["1 Dec 12:00", "2 Dec 00:00"]);
        assert_eq!(labels(start, start + 5.0 * day)[..2], ["1 Dec", "2 Dec"]);
        assert_eq!(labels(start, start + 150.0 * day), ["Dec 2025", "Jan 2026", "Feb 2026", "Mar 2026", "Apr 2026"]);
        assert_eq!(labels(start, start + 5.0 * 365.25 * day), ["2026", "2027", "2028", "2029", "2030"]);
    }

    #[test]
    fn runs_minutes_apart_fill_the_axis() {
        let at = |second: f64| Point { x: 1_764_547_200.0 + second, estimate: Estimate::of(1.0) };
        let of = |seconds: &[f64]| {
            let series = Series { points: seconds.iter().map(|second| at(*second)).collect(), ..Series::default() };
            let domain = Trend { series: vec![series], ..Trend::default() }.domain();
            domain.high - domain.low
        };
        assert_eq!(of(&[0.0, 20.0, 55.0, 90.0, 119.0]), 119.0);
        assert_eq!(of(&[0.0]), NARROWEST);
        assert_eq!(of(&[0.0, 0.5]), NARROWEST);
    }

    #[test]
    fn times_outside_of_the_calendar_have_no_ticks() {
        assert!(time_ticks(Domain { low: -1e18, high: 1e18 }, 6.0).is_empty());
        assert!(labels(-62_135_596_800.0, 253_402_300_799.0).len() < 100);
    }
}
