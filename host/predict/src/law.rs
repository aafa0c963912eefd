//! A figure as a sum of terms, each with a factor above 0: what is computed, what is moved, what each kernel and each inference
//! costs. Few factors, and each means something; they are fitted to the logarithm of the figure, so that a small model counts as
//! much as a large one, and a model that is far off pulls no harder than one that is a little off.

use crate::linear::{solve, weighted_quantile};
use crate::rule::LawRule;

pub(crate) struct Row {
    pub terms: Vec<f64>,
    /// The logarithm of the figure.
    pub ln: f64,
    /// All rows of a model weigh as much as one model.
    pub weight: f64,
}

/// Logarithms of the factors.
#[derive(Clone, Debug)]
pub(crate) struct Law(Vec<f64>);

const STEPS: usize = 60;
/// Of the logarithm of a factor: a hundredth of a percent.
const LEAST_STEP: f64 = 1e-4;
/// A factor moves no further than e times in one step.
const LONGEST_STEP: f64 = 1.0;

impl Law {
    /// `known`: where a factor's logarithm is thought to be; for others it is where the term alone would explain the cheapest of
    /// the rows, since no term costs more than the whole.
    pub fn fit(rows: &[Row], known: &[Option<f64>], rule: &LawRule) -> Option<Law> {
        let centres: Vec<f64> =
            known.iter().enumerate().map(|(j, known)| known.or_else(|| cheapest(rows, j))).collect::<Option<_>>()?;
        let mut law = Law(centres.clone());
        let mut damping = 1e-3;
        for _ in 0..STEPS {
            let errors = law.errors(rows);
            let usual = usual(rows, &errors).max(rule.usual);
            let loss = |law: &Law| law.loss(rows, &centres, usual, rule);
            let (matrix, side) = law.normal_equations(rows, &errors, &centres, usual, rule);
            let mut moved = None;
            for _ in 0..12 {
                let mut damped = matrix.clone();
                damped.iter_mut().enumerate().for_each(|(j, row)| row[j] *= 1.0 + damping);
                let step = solve(damped, side.clone())?;
                let longest = step.iter().fold(0.0_f64, |most, step| most.max(step.abs()));
                let scale = if longest > LONGEST_STEP { LONGEST_STEP / longest } else { 1.0 };
                let next = Law(law.0.iter().zip(&step).map(|(at, step)| at + scale * step).collect());
                if loss(&next) < loss(&law) {
                    damping = (damping / 3.0).max(1e-9);
                    moved = Some((next, longest));
                    break;
                }
                damping *= 4.0;
            }
            let Some((next, longest)) = moved else { break };
            law = next;
            if longest < LEAST_STEP {
                break;
            }
        }
        law.0.iter().all(|factor| factor.is_finite()).then_some(law)
    }

    pub fn ln(&self, terms: &[f64]) -> f64 {
        sum(&self.factors(), terms).ln()
    }

    pub fn factors(&self) -> Vec<f64> {
        self.0.iter().map(|factor| factor.exp()).collect()
    }

    fn errors(&self, rows: &[Row]) -> Vec<f64> {
        let factors = self.factors();
        rows.iter().map(|row| row.ln - sum(&factors, &row.terms).ln()).collect()
    }

    /// Huber's loss of the deviations, and the squared distances of the factors from where they are thought to be.
    fn loss(&self, rows: &[Row], centres: &[f64], usual: f64, rule: &LawRule) -> f64 {
        let bend = rule.huber * usual;
        let of = |error: f64| match error.abs() {
            size if size <= bend => size * size / 2.0,
            size => bend * (size - bend / 2.0),
        };
        let data: f64 = rows.iter().zip(self.errors(rows)).map(|(row, error)| row.weight * of(error)).sum();
        let apart: f64 = self.0.iter().zip(centres).map(|(at, centre)| ((at - centre) / rule.reach).powi(2)).sum();
        data / usual.powi(2) + apart / 2.0
    }

    /// Of the loss near where the factors are: curvature, and the direction in which it falls.
    fn normal_equations(
        &self,
        rows: &[Row],
        errors: &[f64],
        centres: &[f64],
        usual: f64,
        rule: &LawRule,
    ) -> (Vec<Vec<f64>>, Vec<f64>) {
        let n = self.0.len();
        let (mut matrix, mut side) = (vec![vec![0.0; n]; n], vec![0.0; n]);
        let factors = self.factors();
        let bend = rule.huber * usual;
        let mut shares = vec![0.0; n];
        for (row, error) in rows.iter().zip(errors) {
            let whole = sum(&factors, &row.terms);
            (0..n).for_each(|j| shares[j] = factors[j] * row.terms[j] / whole);
            let trust = if error.abs() > bend { bend / error.abs() } else { 1.0 };
            let weight = row.weight * trust / usual.powi(2);
            for j in 0..n {
                side[j] += weight * error * shares[j];
                for k in 0..n {
                    matrix[j][k] += weight * shares[j] * shares[k];
                }
            }
        }
        for j in 0..n {
            matrix[j][j] += rule.reach.powi(-2);
            side[j] -= (self.0[j] - centres[j]) / rule.reach.powi(2);
        }
        (matrix, side)
    }
}

fn sum(factors: &[f64], terms: &[f64]) -> f64 {
    factors.iter().zip(terms).map(|(factor, term)| factor * term).sum()
}

/// What a term would cost if it were all that the cheapest tenth of the rows pays for.
fn cheapest(rows: &[Row], term: usize) -> Option<f64> {
    let costs = rows.iter().filter(|row| row.terms[term] > 0.0).map(|row| (row.ln - row.terms[term].ln(), row.weight));
    weighted_quantile(costs.collect(), 0.1)
}

/// The usual deviation, from the median one, as for a normal distribution.
fn usual(rows: &[Row], errors: &[f64]) -> f64 {
    let sizes = rows.iter().zip(errors).map(|(row, error)| (error.abs(), row.weight)).collect();
    1.4826 * weighted_quantile(sizes, 0.5).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::rule;

    fn rows(of: impl Fn(f64, f64) -> f64) -> Vec<Row> {
        let points = (0..60).map(|i| (1.5_f64.powi(i % 12), 2.0_f64.powi(i / 6)));
        points.map(|(x, y)| Row { terms: vec![x, y, 1.0], ln: of(x, y).ln(), weight: 1.0 }).collect()
    }

    #[test]
    fn the_factors_of_a_law_that_holds_are_found() {
        let law = Law::fit(&rows(|x, y| 3.0 * x + 0.25 * y + 7.0), &[None; 3], &rule().law).unwrap();
        for (found, put) in law.factors().iter().zip([3.0, 0.25, 7.0]) {
            assert!((found / put - 1.0).abs() < 0.02, "{:?}", law.factors());
        }
    }

    #[test]
    fn a_tenth_of_the_rows_that_is_far_off_changes_little() {
        let mut rows = rows(|x, y| 3.0 * x + 0.25 * y + 7.0);
        rows.iter_mut().step_by(10).for_each(|row| row.ln += 10.0_f64.ln());
        let law = Law::fit(&rows, &[None; 3], &rule().law).unwrap();
        assert!((law.ln(&[100.0, 10.0, 1.0]).exp() / 309.5 - 1.0).abs() < 0.1, "{:?}", law.factors());
    }

    #[test]
    fn a_term_that_nothing_tells_of_stays_where_it_was_thought_to_be() {
        let rows: Vec<Row> =
            [1.0, 2.0, 4.0].map(|x: f64| Row { terms: vec![x, 0.0], ln: (5.0 * x).ln(), weight: 1.0 }).into();
        let law = Law::fit(&rows, &[None, Some(0.5)], &rule().law).unwrap();
        assert!((law.factors()[1] - 0.5_f64.exp()).abs() < 1e-6 && (law.factors()[0] / 5.0 - 1.0).abs() < 0.01);
    }
}
