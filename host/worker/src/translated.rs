//! Whether this process runs on a processor that it was built for, or is translated for another one while it runs (QEMU's user mode,
//! Rosetta in a virtual machine). What is timed then is the translator.

use std::sync::LazyLock;

static KERNEL: LazyLock<Option<String>> =
    LazyLock::new(|| std::fs::read_to_string("/proc/sys/kernel/arch").ok().map(|text| text.trim().to_string()));

/// The architecture of the kernel, where it is another than this program's. A translator shows a program the machine that it
/// plays, in `uname` and in `/proc/cpuinfo`, but passes this file on as it is. A kernel before 6.1 has no such file, and an
/// emulator of a whole machine runs a kernel of its own: neither is seen here.
pub fn translated_for() -> Option<&'static str> {
    KERNEL.as_deref().filter(|kernel| is_other(kernel, std::env::consts::ARCH))
}

/// Kernels of 64 bits run programs of 32 bits of the same family as they are.
fn is_other(kernel: &str, program: &str) -> bool {
    let family = |arch: &str| match arch {
        "x86" | "x86_64" | "i386" | "i486" | "i586" | "i686" => "x86".to_string(),
        "arm" | "aarch64" | "armv7l" | "armv8l" => "arm".into(),
        other => other.trim_end_matches(|last: char| last.is_ascii_digit()).to_string(),
    };
    !kernel.is_empty() && family(kernel) != family(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_another_family_than_the_kernel_is_translated() {
        assert!(is_other("x86_64", "aarch64") && is_other("aarch64", "x86_64") && is_other("x86_64", "riscv64"));
        assert!(!is_other("x86_64", "x86_64") && !is_other("aarch64", "arm") && !is_other("riscv64", "riscv64"));
        assert!(!is_other("", "x86_64"), "nothing is known");
    }

    #[test]
    fn what_was_built_here_is_not_translated() {
        assert_eq!(translated_for(), None);
    }
}
