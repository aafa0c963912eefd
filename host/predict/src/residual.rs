//! What the law misses, learned: a linear function of the logarithms of the work, and a step for each family, both drawn towards
//! nothing (ridge), so that few models teach little.

use crate::linear::solve;
use crate::work::Work;

#[derive(Clone, Debug)]
pub(crate) struct Residual {
    families: Vec<String>,
    means: Vec<f64>,
    scales: Vec<f64>,
    level: f64,
    slopes: Vec<f64>,
}

pub(crate) struct Missed<'a> {
    pub work: &'a Work,
    /// The logarithm of the figure over what the law says.
    pub ln: f64,
    pub weight: f64,
}

impl Residual {
    pub fn fit(rows: &[Missed<'_>], ridge: f64) -> Option<Residual> {
        let mut families: Vec<String> = rows.iter().map(|row| row.work.family.clone()).collect();
        families.sort();
        families.dedup();
        let all: f64 = rows.iter().map(|row| row.weight).sum();
        let mean =
            |of: &dyn Fn(usize) -> f64| rows.iter().enumerate().map(|(i, row)| row.weight * of(i)).sum::<f64>() / all;
        let points: Vec<Vec<f64>> = rows.iter().map(|row| point(row.work, &families)).collect();
        let n = points.first()?.len();
        let means: Vec<f64> = (0..n).map(|j| mean(&|i| points[i][j])).collect();
        let spread = |j: usize| mean(&|i| (points[i][j] - means[j]).powi(2)).sqrt();
        // A family is a step of 0 or 1 as it is. What does not vary teaches nothing.
        let scale = |j: usize| Some(spread(j)).filter(|spread| j < LOGARITHMS && *spread > 1e-6);
        let scales: Vec<f64> = (0..n).map(|j| scale(j).unwrap_or(1.0)).collect();
        let level = mean(&|i| rows[i].ln);
        let (mut matrix, mut side) = (vec![vec![0.0; n]; n], vec![0.0; n]);
        for (row, point) in rows.iter().zip(&points) {
            let scaled: Vec<f64> = (0..n).map(|j| (point[j] - means[j]) / scales[j]).collect();
            for j in 0..n {
                side[j] += row.weight * scaled[j] * (row.ln - level);
                for k in 0..n {
                    matrix[j][k] += row.weight * scaled[j] * scaled[k];
                }
            }
        }
        (0..n).for_each(|j| matrix[j][j] += ridge);
        Some(Residual { slopes: solve(matrix, side)?, families, means, scales, level })
    }

    pub fn ln(&self, work: &Work) -> f64 {
        let point = point(work, &self.families);
        let parts = (0..point.len()).map(|j| self.slopes[j] * (point[j] - self.means[j]) / self.scales[j]);
        self.level + parts.sum::<f64>()
    }
}

const LOGARITHMS: usize = 5;

fn point(work: &Work, families: &[String]) -> Vec<f64> {
    let logarithms: [f64; LOGARITHMS] =
        [work.flops, work.weight_bytes, work.activation_bytes, work.kernels, work.batch].map(|of| of.max(1.0).ln());
    let family = families.iter().map(|family| if *family == work.family { 1.0 } else { 0.0 });
    logarithms.into_iter().chain(family).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(flops: f64, family: &str) -> Work {
        Work { flops, family: family.into(), batch: 1.0, ..Work::default() }
    }

    #[test]
    fn one_slope_is_as_worked_out_by_hand() {
        // ln flops at -1 and 1 around its mean, scaled to the same; missed -0.5 and 0.5: 1 / (2 + 3) of the slope's sum 1.
        let works = [work(1.0_f64.exp(), "a"), work(3.0_f64.exp(), "a")];
        let rows: Vec<Missed> =
            works.iter().zip([-0.5, 0.5]).map(|(work, ln)| Missed { work, ln, weight: 1.0 }).collect();
        let residual = Residual::fit(&rows, 3.0).unwrap();
        assert!((residual.ln(&works[1]) - 0.2).abs() < 1e-9, "{}", residual.ln(&works[1]));
        assert!((residual.ln(&work(2.0_f64.exp(), "a"))).abs() < 1e-9);
    }

    #[test]
    fn a_family_that_is_slower_throughout_is_learned() {
        let works: Vec<Work> = (0..40).map(|i| work(10.0, if i % 2 == 0 { "a" } else { "b" })).collect();
        let missed = |work: &Work| if work.family == "a" { 0.4 } else { -0.4 };
        let rows: Vec<Missed> = works.iter().map(|work| Missed { work, ln: missed(work), weight: 1.0 }).collect();
        let residual = Residual::fit(&rows, 3.0).unwrap();
        assert!(residual.ln(&works[0]) > 0.3 && residual.ln(&works[1]) < -0.3);
    }
}
