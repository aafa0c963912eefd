//! Roots that are refused before anything behind them is called.

use abi_stable::library::{AbiHeader, CheckTypeLayout, LibHeader, RootModuleError, RootModuleResult};
use abi_stable::std_types::RErr;
use skillbench_plugin_stable::abi::RootRef;
use skillbench_plugin_stable::host::{AbiHeaderRef, Refusal, plugin};

extern "C" fn panicked() -> RootModuleResult {
    RErr(RootModuleError::Unwound)
}

/// What a host makes of a header; a reference to one is its address, as `abi_stable` reads it from a library.
fn refusal(header: &'static AbiHeader) -> Refusal {
    // SAFETY: AbiHeaderRef is a transparent reference to an AbiHeader.
    let header = unsafe { std::mem::transmute::<&'static AbiHeader, AbiHeaderRef>(header) };
    plugin(header).err().expect("it is refused")
}

fn of(check: CheckTypeLayout) -> Refusal {
    // SAFETY: no root comes out of this constructor.
    let header = Box::leak(Box::new(unsafe { LibHeader::from_constructor::<RootRef>(panicked, check) }));
    // SAFETY: a LibHeader begins with its AbiHeader.
    refusal(unsafe { &*(&raw const *header).cast::<AbiHeader>() })
}

#[test]
fn a_root_that_leaves_its_layout_out_is_refused() {
    let refusal = of(CheckTypeLayout::No);
    assert!(matches!(refusal, Refusal::NoLayout));
    assert!(refusal.to_string().contains("leaves its layout out"), "{refusal}");
}

#[test]
fn a_root_whose_making_panicked_is_refused() {
    let refusal = of(CheckTypeLayout::Yes);
    assert!(matches!(refusal, Refusal::Root(_)));
    assert!(refusal.to_string().starts_with("its abi_stable root module could not be made: "), "{refusal}");
}

#[test]
fn a_root_of_another_abi_stable_is_refused_with_both_versions() {
    let mut header = AbiHeader::VALUE;
    header.abi_minor += 1;
    let (ours, theirs) = (AbiHeader::VALUE, header);
    let refusal = refusal(Box::leak(Box::new(header)));
    let versions = [theirs, ours].map(|header| format!("{}.{}", header.abi_major, header.abi_minor));
    let text = refusal.to_string();
    assert!(
        matches!(refusal, Refusal::AbiStable { .. }) && versions.iter().all(|version| text.contains(version)),
        "{text}"
    );
}
