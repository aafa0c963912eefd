//! Providers that are built into libonnxruntime, or lie beside it as a library that only it can load: a session takes them in
//! by name.

use crate::errors::check;
use ort::AsPointer;
use ort::ep::{ArbitrarilyConfigurableExecutionProvider, CUDA, ExecutionProvider, TensorRT};
use ort::session::builder::SessionBuilder;
use skillbench_plugin_api::Result;
use std::ffi::{CStr, CString, c_char};
use std::ptr;

/// Loads the provider's library, if it has one, and appends it to those of the session.
///
/// # Errors
/// What ONNX Runtime says: the provider is not built in, or its library misses another one.
pub(crate) fn append(builder: &mut SessionBuilder, name: &str, options: &[(String, String)]) -> ort::Result<()> {
    match name {
        // These two have calls of their own; the general one does not know them.
        CUDA::NAME => configured(CUDA::default(), options).register(builder),
        TensorRT::NAME => configured(TensorRT::default(), options).register(builder),
        _ => by_name(builder, name, options),
    }
}

fn configured<E: ArbitrarilyConfigurableExecutionProvider>(provider: E, options: &[(String, String)]) -> E {
    options.iter().fold(provider, |provider, (key, value)| provider.with_arbitrary_config(key, value))
}

fn by_name(builder: &mut SessionBuilder, name: &str, options: &[(String, String)]) -> ort::Result<()> {
    let text = |text: &String| CString::new(&**text).map_err(|_| ort::Error::new("an option has a NUL inside"));
    let name = text(&name.to_string())?;
    let keys = options.iter().map(|(key, _)| text(key)).collect::<ort::Result<Vec<_>>>()?;
    let values = options.iter().map(|(_, value)| text(value)).collect::<ort::Result<Vec<_>>>()?;
    let pointers = |texts: &[CString]| texts.iter().map(|text| text.as_ptr()).collect::<Vec<*const c_char>>();
    let (key_pointers, value_pointers) = (pointers(&keys), pointers(&values));
    // SAFETY: the builder is alive; both arrays hold as many strings as said, and ONNX Runtime copies them.
    unsafe {
        ort::Error::result_from_status((ort::api().SessionOptionsAppendExecutionProvider)(
            builder.ptr_mut(),
            name.as_ptr(),
            key_pointers.as_ptr(),
            value_pointers.as_ptr(),
            options.len(),
        ))
    }
}

/// The names of the providers that the library was built with. It says nothing about whether they can be used.
///
/// # Errors
/// What ONNX Runtime says.
pub(crate) fn built_in() -> Result<Vec<String>> {
    let (mut names, mut count) = (ptr::null_mut(), 0);
    // SAFETY: pointers to locals are writable; what comes back are as many strings as said, and is given back once.
    unsafe {
        check((ort::api().GetAvailableProviders)(&raw mut names, &raw mut count))?;
        let listed = (0..usize::try_from(count).unwrap_or(0)).map(|index| CStr::from_ptr(*names.add(index)));
        let listed = listed.map(|name| name.to_string_lossy().into_owned()).collect();
        check((ort::api().ReleaseAvailableProviders)(names, count))?;
        Ok(listed)
    }
}
