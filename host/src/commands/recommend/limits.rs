//! A bound that has to be kept: "20ms", "512MB", "latency_ms<=20".

/// What a bound is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    Latency,
    Throughput,
    Memory,
    Energy,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    pub metric: Metric,
    /// In the unit of the metric: milliseconds, items in a second, mebibytes, joules.
    pub bound: f64,
}

const NAMES: [(&str, Metric); 4] = [
    ("latency_ms", Metric::Latency),
    ("throughput_per_s", Metric::Throughput),
    ("memory_mb", Metric::Memory),
    ("energy_j", Metric::Energy),
];

/// Longer units first: "ms" ends in "s".
const UNITS: [(&str, Metric, f64); 10] = [
    ("ms", Metric::Latency, 1.0),
    ("/s", Metric::Throughput, 1.0),
    ("s", Metric::Latency, 1e3),
    ("GiB", Metric::Memory, 1024.0),
    ("GB", Metric::Memory, 1024.0),
    ("MiB", Metric::Memory, 1.0),
    ("MB", Metric::Memory, 1.0),
    ("mJ", Metric::Energy, 1e-3),
    ("kJ", Metric::Energy, 1e3),
    ("J", Metric::Energy, 1.0),
];

impl Metric {
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, metric)| *metric == self).map_or("", |(name, _)| name)
    }

    pub fn more_is_better(self) -> bool {
        self == Metric::Throughput
    }
}

impl Limit {
    /// # Errors
    /// What was expected.
    pub fn parse(text: &str) -> Result<Limit, String> {
        let expected = || {
            format!(
                "'{text}' is no limit: expected 20ms, 512MB, 2J or 100/s, or latency_ms<=20, memory_mb<=512, energy_j<=2, throughput_per_s>=100"
            )
        };
        let number = |text: &str| {
            let value = text.trim().parse::<f64>().ok();
            value.filter(|value| *value > 0.0 && value.is_finite()).ok_or_else(expected)
        };
        for (sign, more) in [("<=", false), (">=", true)] {
            if let Some((name, bound)) = text.split_once(sign) {
                let known = NAMES.iter().find(|(known, _)| *known == name.trim());
                let (_, metric) = known.filter(|(_, metric)| metric.more_is_better() == more).ok_or_else(expected)?;
                return Ok(Limit { metric: *metric, bound: number(bound)? });
            }
        }
        let unit = UNITS.iter().find_map(|(unit, metric, scale)| Some((text.strip_suffix(unit)?, *metric, *scale)));
        let (value, metric, scale) = unit.ok_or_else(expected)?;
        Ok(Limit { metric, bound: number(value)? * scale })
    }

    /// Whether a figure between these ends keeps it; `None`: it may or may not.
    pub fn is_kept(&self, low: f64, high: f64) -> Option<bool> {
        let (best, worst) = if self.metric.more_is_better() { (high, low) } else { (low, high) };
        let keeps = |value: f64| if self.metric.more_is_better() { value >= self.bound } else { value <= self.bound };
        match (keeps(best), keeps(worst)) {
            (true, true) => Some(true),
            (false, false) => Some(false),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_figure_with_its_unit_or_a_metric_with_its_bound() {
        let of = |text: &str| Limit::parse(text).map(|limit| (limit.metric, limit.bound));
        assert_eq!(of("20ms"), Ok((Metric::Latency, 20.0)));
        assert_eq!(of("0.5 s"), Ok((Metric::Latency, 500.0)));
        assert_eq!(of("2GB"), Ok((Metric::Memory, 2048.0)));
        assert_eq!(of("100/s"), Ok((Metric::Throughput, 100.0)));
        assert_eq!(of("latency_ms<=20"), Ok((Metric::Latency, 20.0)));
        assert_eq!(of("throughput_per_s >= 5"), Ok((Metric::Throughput, 5.0)));
        for text in ["20", "ms", "-1ms", "latency_ms>=20", "throughput_per_s<=5", "speed<=3", "infs", ""] {
            assert!(of(text).unwrap_err().contains("latency_ms<=20"), "{text}");
        }
    }

    #[test]
    fn a_limit_inside_of_an_interval_is_neither_kept_nor_broken() {
        let limit = Limit::parse("20ms").unwrap();
        assert_eq!(limit.is_kept(10.0, 15.0), Some(true));
        assert_eq!(limit.is_kept(21.0, 25.0), Some(false));
        assert_eq!(limit.is_kept(15.0, 25.0), None);
        assert_eq!(Limit::parse("100/s").unwrap().is_kept(120.0, 150.0), Some(true));
    }
}
