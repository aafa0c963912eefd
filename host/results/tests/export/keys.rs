use skillbench_results::export::key;

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
