//! What a point of the workload grid is called: `batch_1_seq_32`, `batch_1_img_224x224`, `batch_1_audio_5s`, `batch_1`.

use skillbench_record::Axes;

/// What a graph without any axis has in place of a key.
const FIXED: &str = "fixed";

/// What readers of these keys take for a second of audio, whatever the rate of a model.
const SAMPLES_PER_S: f64 = 16_000.0;

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
    parts.extend(rest.remove("samples").map(|samples| format!("audio_{}s", samples as f64 / SAMPLES_PER_S)));
    parts.extend(rest.iter().map(|(name, value)| format!("{name}_{value}")));
    if parts.is_empty() { FIXED.into() } else { parts.join("_") }
}
