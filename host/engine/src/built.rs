//! What this program was built from, and with.

use skillbench_record::BuildRecord;

/// The commit is known to a build that was told it, as `scripts/release` does: a build that looked for itself would be made anew
/// after each commit, and could not see what was changed since.
pub fn build() -> BuildRecord {
    let known = |text: &str| Some(text.to_string()).filter(|text| !text.is_empty());
    BuildRecord {
        commit: option_env!("SKILLBENCH_COMMIT").and_then(known),
        compiler: known(env!("SKILLBENCH_COMPILER")),
        target: env!("SKILLBENCH_TARGET").into(),
        optimized: !cfg!(debug_assertions),
    }
}
