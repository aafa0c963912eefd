//! Copies by NVIDIA's driver, on a driver of the tests' own: in which order it is called, and what becomes of its errors. That the real one
//! copies is for a machine with a GPU (`scripts/gpu-check`).

#![cfg(all(feature = "cuda", target_os = "linux"))]

use libloading::Library;
use skillbench_drivers::cuda::Copies;
use skillbench_drivers::{Copier, Piece};
use std::process::Command;
use std::sync::LazyLock;

/// Loaded under the name by which the driver's library is looked for. Where a real one is on this machine, this one comes first.
static DRIVER: LazyLock<Library> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap().keep();
    let library = folder.join("libcuda.so.1");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/driver.c");
    let names = ["-shared", "-fPIC", "-Wl,-soname,libcuda.so", "-o"];
    let built = Command::new("cc").args(names).arg(&library).arg(source).status();
    assert!(built.expect("a C compiler").success());
    // SAFETY: a library of the tests' own, without a constructor.
    let driver = unsafe { Library::new(&library) }.unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    driver
});

/// What the driver counts.
fn count_of(name: &str) -> i32 {
    // SAFETY: both functions of the fixture have this type.
    unsafe { DRIVER.get::<unsafe extern "C" fn() -> i32>(name.as_bytes()).unwrap()() }
}

fn piece(from: &[u8], to: &mut [u8]) -> Piece {
    Piece { from: from.as_ptr(), to: to.as_mut_ptr(), bytes: from.len() }
}

/// One after the other: the driver counts for the whole process.
#[test]
fn copies_are_where_they_belong_when_the_call_returns() {
    assert_eq!(count_of("contexts_held"), 0);
    let copies = Copies::of(0);
    assert_eq!(count_of("contexts_held"), 0, "looking at a GPU takes none of its memory");
    let (first, second) = ([1, 2, 3], [4, 5]);
    let (mut to_first, mut to_second) = ([0; 3], [0; 2]);
    let pieces = [piece(&first, &mut to_first), piece(&[], &mut []), piece(&second, &mut to_second)];
    // SAFETY: both sides of each piece live on the stack.
    unsafe { copies.copy(&pieces) }.unwrap();
    assert_eq!((to_first, to_second), (first, second));

    let mut late = [0; 3];
    let refused = Piece { from: std::ptr::without_provenance(13), ..piece(&first, &mut [0; 3]) };
    // SAFETY: as above; the driver of the tests refuses the address 13 without a look at it.
    let error = unsafe { copies.copy(&[piece(&first, &mut late), refused]) }.unwrap_err();
    assert!(error.message.contains("an illegal memory access") && error.vendor_code == 700, "{error}");
    assert_eq!((late, count_of("copies_queued")), (first, 0), "what was queued before a refusal is waited for");

    std::thread::scope(|scope| {
        // SAFETY: as above.
        let elsewhere = scope.spawn(|| unsafe { copies.copy(&[piece(&second, &mut [0; 2])]) });
        elsewhere.join().unwrap().expect("each thread makes the context its current one");
    });
    assert_eq!(count_of("contexts_held"), 1, "one context for all copies");
    drop(copies);
    assert_eq!(count_of("contexts_held"), 0);

    // SAFETY: as above.
    let error = unsafe { Copies::of(7).copy(&[piece(&first, &mut to_first)]) }.unwrap_err();
    assert!(error.message.contains("invalid device ordinal"), "{error}");
}
