//! The precisions that can be asked for, and the short names that people have for them.

/// As graphs have them.
pub const PRECISIONS: [&str; 4] = ["float32", "float16", "bfloat16", "int8"];

/// Short names, and what each means.
pub const SHORT_PRECISIONS: [(&str, &str); 3] = [("fp32", "float32"), ("fp16", "float16"), ("bf16", "bfloat16")];

/// The precision of a name, short or not.
pub fn precision(name: &str) -> Option<&'static str> {
    let short = SHORT_PRECISIONS.into_iter().find(|(short, _)| *short == name).map(|(_, precision)| precision);
    short.or_else(|| PRECISIONS.into_iter().find(|precision| *precision == name))
}
