//! `--price`: what hardware costs by the hour, and what that makes of its figures. A price is the user's, in any currency, and is kept nowhere.

use super::Candidate;
use skillbench_record::shown::number;
use skillbench_record::suggest::one_of;
use skillbench_results::matrix::rule;
use std::collections::{BTreeMap, BTreeSet};

const SECONDS: f64 = 3600.0;
const MILLION: f64 = 1e6;

/// What a cost is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// Of a capacity, however many items a request has.
    Requests,
    /// Tokens that requests make.
    Tokens,
    /// Of a throughput.
    Items,
}

impl Per {
    pub fn name(self) -> &'static str {
        match self {
            Per::Requests => "requests",
            Per::Tokens => "tokens",
            Per::Items => "items",
        }
    }
}

/// What a million costs. The ends are those of the figure the other way round: the most that it may bear costs the least.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    pub per: Per,
    pub value: f64,
    pub low: Option<f64>,
    /// `None` with a `low`: the figure has no lower end.
    pub high: Option<f64>,
}

impl Cost {
    /// Of so many a second, at a price by the hour.
    pub fn of(per: Per, price: f64, per_s: f64, interval: Option<(f64, f64)>) -> Option<Cost> {
        let cost = |per_s: f64| Some(price / SECONDS / per_s * MILLION).filter(|cost| cost.is_finite() && per_s > 0.0);
        let end = |end: fn((f64, f64)) -> f64| interval.map(end).and_then(cost);
        Some(Cost { per, value: cost(per_s)?, low: end(|(_, most)| most), high: end(|(least, _)| least) })
    }

    /// "0.615 for a million requests".
    pub fn describe(&self) -> String {
        format!("{} for a million {}", number(self.value), self.per.name())
    }
}

/// Prices by the hour.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    all: Option<f64>,
    of: BTreeMap<String, f64>,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PriceError {
    #[error(
        "--price {0}: a price by the hour is a number above 0, of all hardware (2.50) or of some (cuda=2.50,cpu=0.20)"
    )]
    Amount(String),
    #[error("--price {0}: one price is of all hardware, or each has its own (cuda=2.50,cpu=0.20)")]
    Mixed(String),
    #[error("--price {0}: it has a price already")]
    Twice(String),
    #[error("--price {name}: no such hardware is ranked here{known}")]
    Unknown { name: String, known: String },
}

impl Prices {
    /// Each text is an amount, or "HARDWARE=AMOUNT".
    ///
    /// # Errors
    /// It is no price, or one too many.
    pub fn parse(texts: &[String]) -> Result<Prices, PriceError> {
        let mut prices = Prices::default();
        for text in texts {
            // Names of hardware may have options in them: "cpu (cache=off)".
            let (name, amount) = text.rsplit_once('=').map_or((None, text.as_str()), |(name, of)| (Some(name), of));
            let amount = amount.trim().parse::<f64>().ok().filter(|amount| amount.is_finite() && *amount > 0.0);
            let amount = amount.ok_or_else(|| PriceError::Amount(text.clone()))?;
            // A decimal comma makes two texts of one, and the second is of all hardware.
            if prices.all.is_some() || (name.is_none() && !prices.of.is_empty()) {
                return Err(PriceError::Mixed(text.clone()));
            }
            match name.map(str::trim) {
                None => prices.all = Some(amount),
                Some("") => return Err(PriceError::Amount(text.clone())),
                Some(name) if prices.of.insert(rule().hardware_name(name).into(), amount).is_some() => {
                    return Err(PriceError::Twice(name.into()));
                }
                Some(_) => {}
            }
        }
        Ok(prices)
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_none() && self.of.is_empty()
    }

    /// Gives each its price, and what a million of what it counts costs at it.
    ///
    /// # Errors
    /// A name that none of them has.
    pub fn give(&self, to: &mut [Candidate]) -> Result<(), PriceError> {
        let known: BTreeSet<String> = to.iter().flat_map(names).collect();
        if let Some(name) = self.of.keys().find(|name| !known.contains(*name)).filter(|_| !to.is_empty()) {
            let told: BTreeSet<&str> = to.iter().flat_map(|one| [one.hardware.as_str(), plugin(one)]).collect();
            let known = one_of(name, told);
            return Err(PriceError::Unknown { name: name.clone(), known });
        }
        for one in to {
            let own = names(one).iter().find_map(|name| self.of.get(name).copied());
            one.price = own.or(self.all);
            let (Some(price), Some(value), true) = (one.price, one.value, one.evidence.can_be_priced()) else {
                continue;
            };
            let cost = |(per, times): (Per, f64)| {
                let interval = one.interval.map(|(low, high)| (low * times, high * times));
                Cost::of(per, price, value * times, interval)
            };
            one.costs = one.counts.iter().copied().filter_map(cost).collect();
        }
        Ok(())
    }
}

fn plugin(one: &Candidate) -> &str {
    one.hardware.split([':', ' ']).next().unwrap_or(&one.hardware)
}

/// What hardware may be called, the narrowest first: "cuda:1 (cache=off)", "cuda:1", its device's id, "cuda".
fn names(one: &Candidate) -> Vec<String> {
    let shown = one.hardware.split(" (").next().unwrap_or(&one.hardware);
    let plugin = plugin(one);
    let with_device = format!("{plugin}:{}", one.device);
    let of_device = [with_device.as_str(), one.device.as_str()];
    let of_device = of_device.into_iter().filter(|_| !one.device.is_empty());
    [one.hardware.as_str(), shown].into_iter().chain(of_device).chain([plugin]).map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::Evidence;

    fn prices(text: &str) -> Result<Prices, PriceError> {
        Prices::parse(&text.split(',').map(String::from).collect::<Vec<_>>())
    }

    fn on(hardware: &str, device: &str) -> Candidate {
        Candidate {
            hardware: hardware.into(),
            device: device.into(),
            evidence: Evidence::Measured,
            value: Some(500.0),
            interval: Some((400.0, 625.0)),
            counts: vec![(Per::Requests, 1.0), (Per::Tokens, 8.0)],
            ..Candidate::default()
        }
    }

    fn given(text: &str, mut to: Vec<Candidate>) -> Vec<Candidate> {
        prices(text).unwrap().give(&mut to).unwrap();
        to
    }

    #[test]
    fn a_million_costs_the_hours_that_it_takes_with_the_ends_the_other_way_round() {
        let cost = Cost::of(Per::Requests, 1.8, 500.0, Some((400.0, 625.0))).unwrap();
        assert!((cost.value - 1.0).abs() < 1e-12, "2000 s of 1.80 an hour: {cost:?}");
        assert!((cost.low.unwrap() - 0.8).abs() < 1e-12 && (cost.high.unwrap() - 1.25).abs() < 1e-12, "{cost:?}");
        assert_eq!(cost.describe(), "1.00 for a million requests");
        let of_tokens = &given("1.8", vec![on("cpu", "cpu")])[0].costs[1];
        assert!((of_tokens.value - 0.125).abs() < 1e-12 && of_tokens.per == Per::Tokens, "{of_tokens:?}");
    }

    #[test]
    fn a_figure_without_a_lower_end_has_a_cost_without_an_upper_one() {
        let cost = Cost::of(Per::Requests, 1.8, 500.0, Some((0.0, 625.0))).unwrap();
        assert!(cost.low.is_some() && cost.high.is_none(), "{cost:?}");
        assert_eq!(Cost::of(Per::Requests, 1.8, 0.0, None), None);
    }

    #[test]
    fn the_narrowest_name_of_hardware_gives_its_price() {
        let all = vec![on("cuda:0", "0"), on("cuda:1 (cache=off)", "1"), on("cpu", "cpu")];
        let price = |text: &str| given(text, all.clone()).iter().map(|one| one.price).collect::<Vec<_>>();
        assert_eq!(price("2.5"), [Some(2.5); 3]);
        assert_eq!(price("cuda=2,cuda:1=3"), [Some(2.0), Some(3.0), None]);
        assert_eq!(price("cuda:1 (cache=off)=4,cuda:1=3"), [None, Some(4.0), None]);
    }

    #[test]
    fn what_is_no_hardware_that_somebody_pays_for_has_no_cost() {
        let emulated = Candidate { evidence: Evidence::Emulated, ..on("qnn", "htp") };
        assert!(given("2", vec![emulated])[0].costs.is_empty());
    }

    #[test]
    fn a_price_is_a_number_above_0_and_each_hardware_has_one() {
        for text in ["0", "-1", "nan", "inf", "1e400", "cpu=", "=1", "cpu=much", "cpu", ""] {
            assert_eq!(prices(text), Err(PriceError::Amount(text.into())), "{text}");
        }
        assert_eq!(prices("cpu=1,cpu=2"), Err(PriceError::Twice("cpu".into())));
        assert_eq!(prices("cuda=2,50"), Err(PriceError::Mixed("50".into())), "a decimal comma");
        assert_eq!(prices("1,2"), Err(PriceError::Mixed("2".into())));
    }

    #[test]
    fn a_price_of_what_is_not_ranked_is_refused_with_what_is() {
        let refused = |name: &str| {
            let error = prices(name).unwrap().give(&mut [on("cuda:0", "0"), on("cpu", "cpu")]);
            error.unwrap_err().to_string()
        };
        assert!(refused("tpu9=1").contains("there are: cpu, cuda, cuda:0"), "{}", refused("tpu9=1"));
        assert!(refused("cud=1").contains("did you mean cuda"), "{}", refused("cud=1"));
    }
}
