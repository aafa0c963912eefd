//! What a point of the workload grid is called: `batch_1_seq_32`, `batch_1_img_224x224`, `batch_1_audio_5s`, `batch_1`.

use skillbench_engine::defaults::defaults;
use skillbench_engine::document::Axes;

/// What a graph without any axis has in place of a key.
const FIXED: &str = "fixed";

/// The key of a point: the batch, the sequence, the image, the seconds of audio, then every other axis by its own name in alphabetical
/// order (`batch_1_new_tokens_32_prompt_32`). Seconds are samples at the usual rate of 16 kHz.
pub fn key(axes: &Axes) -> String {
    let mut parts = vec![];
    let mut rest = axes.clone();
    parts.extend(rest.remove("batch").map(|batch| format!("batch_{batch}")));
    parts.extend(rest.remove("sequence").map(|sequence| format!("seq_{sequence}")));
    if let (Some(height), Some(width)) = (axes.get("height"), axes.get("width")) {
        parts.push(format!("img_{height}x{width}"));
        rest.retain(|name, _| name != "height" && name != "width");
    }
    if let (Some(samples), Some(rate)) = (axes.get("samples"), defaults().grid.rates.get("samples")) {
        parts.push(format!("audio_{}s", *samples as f64 / rate));
        rest.remove("samples");
    }
    parts.extend(rest.iter().map(|(name, value)| format!("{name}_{value}")));
    if parts.is_empty() { FIXED.into() } else { parts.join("_") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(axes: &[(&str, i64)]) -> String {
        key(&axes.iter().map(|(name, value)| (name.to_string(), *value)).collect())
    }

    #[test]
    fn a_point_is_called_by_its_batch_and_what_the_model_takes() {
        assert_eq!(named(&[("batch", 1), ("sequence", 32)]), "batch_1_seq_32");
        assert_eq!(named(&[("batch", 4), ("height", 224), ("width", 384)]), "batch_4_img_224x384");
        assert_eq!(named(&[("batch", 1), ("samples", 80_000)]), "batch_1_audio_5s");
        assert_eq!(named(&[("batch", 1), ("samples", 8_000)]), "batch_1_audio_0.5s");
        assert_eq!(named(&[("batch", 8)]), "batch_8");
    }

    #[test]
    fn any_other_axis_stands_behind_by_its_name() {
        assert_eq!(named(&[("batch", 1), ("prompt", 32), ("new_tokens", 8)]), "batch_1_new_tokens_8_prompt_32");
        assert_eq!(named(&[("batch", 1), ("sequence", 1), ("past", 16)]), "batch_1_seq_1_past_16");
        assert_eq!(named(&[("height", 32)]), "height_32");
        assert_eq!(named(&[]), "fixed");
    }
}
