//! How wide an interval has to be: as wide as predictions of models that were held out were off, in nine of ten cases (or
//! whatever the level is), with the correction that a finite number of models needs.
//!
//! Models, not points, are what is drawn at random: the points of one model go wrong together. So each model weighs the same,
//! whatever the number of its points, and the model to come weighs as much as any, with an error of which nothing is known
//! (hierarchical conformal prediction; Lee, Barber, Willett 2023).

use crate::linear::weighted_quantile;

use std::collections::BTreeMap;

/// For each held-out model the sizes of its errors, in logarithms.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeldOut(pub BTreeMap<String, Vec<f64>>);

impl HeldOut {
    /// The models that have errors, besides the one that is asked about.
    pub fn models(&self, asked: &str) -> usize {
        self.others(asked).count()
    }

    /// The error that is not exceeded at this level; `None`: too few models to say.
    pub fn error_at(&self, level: f64, asked: &str) -> Option<f64> {
        let to_come = std::iter::once((f64::INFINITY, 1.0));
        let errors =
            self.others(asked).flat_map(|errors| errors.iter().map(|error| (*error, 1.0 / errors.len() as f64)));
        weighted_quantile(errors.chain(to_come).collect(), level).filter(|error| error.is_finite())
    }

    fn others<'a>(&'a self, asked: &'a str) -> impl Iterator<Item = &'a Vec<f64>> {
        self.0.iter().filter(move |(model, errors)| *model != asked && !errors.is_empty()).map(|(_, errors)| errors)
    }
}

/// The least number of models with which an interval of this level can be told.
pub fn least_models(level: f64) -> usize {
    // Sums of shares are a little beside.
    (level / (1.0 - level) - 1e-9).ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_nine_models_the_largest_error_is_the_one_at_nine_of_ten_and_of_eight_there_is_none() {
        let models = |n: usize| HeldOut((1..=n).map(|error| (error.to_string(), vec![error as f64])).collect());
        assert_eq!(least_models(0.9), 9);
        assert_eq!(models(8).error_at(0.9, ""), None);
        assert_eq!(models(9).error_at(0.9, ""), Some(9.0));
        // The 18th of 19: ceil(20 x 0.9).
        assert_eq!(models(19).error_at(0.9, ""), Some(18.0));
        assert_eq!(HeldOut::default().error_at(0.9, ""), None);
    }

    #[test]
    fn what_is_known_of_a_model_says_nothing_of_how_far_off_it_may_be_itself() {
        let models = HeldOut((1..=10).map(|error| (error.to_string(), vec![error as f64])).collect());
        assert_eq!((models.models("10"), models.error_at(0.9, "10")), (9, Some(9.0)));
        assert_eq!((models.models("new"), models.error_at(0.9, "new")), (10, Some(10.0)));
    }

    #[test]
    fn a_model_with_many_points_weighs_as_much_as_one_with_a_single_point() {
        // Ten models and the one to come, each a share of 1/11. Below 0.9 there may be 9.9 shares: nine models at 0.1, and
        // 0.9 of the tenth, whose hundred errors are 1 to 100: the 90th.
        let mut errors: BTreeMap<String, Vec<f64>> = (0..9).map(|model| (model.to_string(), vec![0.1])).collect();
        errors.insert("large".into(), (1..=100).map(f64::from).collect());
        assert_eq!(HeldOut(errors).error_at(0.9, ""), Some(90.0));
    }
}
