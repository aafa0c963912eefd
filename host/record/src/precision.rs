//! The precisions that can be asked for, and the short names that people have for them.

/// As graphs have them. What ends in `-stored` is how weights are written, to be computed in float32.
pub const PRECISIONS: [&str; 9] = [
    "float32",
    "float16",
    "bfloat16",
    "int8",
    "int4",
    "float16-stored",
    "bfloat16-stored",
    "int8-stored",
    "int4-stored",
];

/// Short names, and what each means.
pub const SHORT_PRECISIONS: [(&str, &str); 3] = [("fp32", "float32"), ("fp16", "float16"), ("bf16", "bfloat16")];

/// The precision of a name, short or not.
pub fn precision(name: &str) -> Option<&'static str> {
    let short = SHORT_PRECISIONS.into_iter().find(|(short, _)| *short == name).map(|(_, precision)| precision);
    short.or_else(|| PRECISIONS.into_iter().find(|precision| *precision == name))
}
