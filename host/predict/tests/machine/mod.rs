//! Machines whose law is known, and models for them: seeded, so that a test says the same each time.

use skillbench_predict::{Peaks, Sample, Work};

pub struct Random(pub u64);

impl Random {
    /// Between 0 and 1.
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        (low.ln() + self.uniform() * (high / low).ln()).exp()
    }
}

pub const PEAKS: Peaks = Peaks { flops_per_s: Some(1e11), bytes_per_s: Some(2e10) };

/// Milliseconds of a machine that reaches half of its peaks, and takes 2 µs for a kernel and 50 µs for an inference.
pub fn law(work: &Work) -> f64 {
    let bytes = work.weight_bytes + work.activation_bytes;
    1e3 * work.flops / 0.5e11 + 1e3 * bytes / 1e10 + 0.002 * work.kernels + 0.05
}

/// Models at batches of 1, 4 and 16. Each is off the law by `model` (standard deviation of the logarithm) as a whole, and by
/// `point` at each point.
pub fn machine(seed: u64, models: usize, model: f64, point: f64) -> Vec<Sample> {
    let mut random = Random(seed);
    let mut samples = vec![];
    for index in 0..models {
        let flops = random.between(1e8, 1e10);
        let parameters = random.between(4e6, 4e8);
        let activations = random.between(4e6, 4e8);
        let kernels = random.between(50.0, 1000.0).round();
        let off = model * random.normal();
        for batch in [1.0, 4.0, 16.0] {
            let work = Work {
                model: format!("model-{index}"),
                family: ["vision", "embedding"][index % 2].into(),
                batch,
                flops: batch * flops,
                weight_bytes: parameters,
                activation_bytes: batch * activations,
                kernels,
                parameter_bytes: parameters,
            };
            let value = law(&work) * (off + point * random.normal()).exp();
            samples.push(Sample { work, value });
        }
    }
    samples
}
