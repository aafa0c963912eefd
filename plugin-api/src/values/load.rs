//! What to load, and with which options.

use crate::raw::*;
use crate::{Error, Result, abi_size, text};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A named dimension. `min == opt == max` is a fixed one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dim {
    pub name: String,
    pub min: i64,
    pub opt: i64,
    pub max: i64,
}

impl Dim {
    pub fn fixed(name: &str, value: i64) -> Dim {
        Dim { name: name.into(), min: value, opt: value, max: value }
    }
}

/// Where a model's graph is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// "onnx".
    pub format: String,
    /// A file, its external data beside it; empty where the model is given as `bytes`.
    pub path: PathBuf,
    /// The whole model in memory, without external data. Only a backend that `Offers` it is given one.
    pub bytes: Option<Arc<[u8]>>,
}

impl Source {
    pub fn onnx(path: &Path) -> Source {
        Source { format: "onnx".into(), path: path.into(), bytes: None }
    }

    /// A model in memory, which holds all its data.
    pub fn onnx_in_memory(bytes: impl Into<Arc<[u8]>>) -> Source {
        Source { format: "onnx".into(), path: PathBuf::new(), bytes: Some(bytes.into()) }
    }
}

/// What to load, and how.
#[derive(Clone, Debug)]
pub struct Load {
    pub source: Source,
    /// `None`: as the graph says.
    pub precision: Option<String>,
    /// An empty folder is a cold compile; `None`: no cache.
    pub cache_dir: Option<PathBuf>,
    /// Indices of devices, each once; none: the first usable one; several: the model is split over them, or copied to each.
    pub devices: Vec<u32>,
    pub dims: Vec<Dim>,
    /// Of this load, beside those of `open`.
    pub options: Options,
    pub allow_fallback: bool,
    /// The model records what its operators cost. It may be slower, and is never measured.
    pub profile: bool,
}

impl Load {
    pub fn new(source: Source) -> Load {
        let (precision, cache_dir) = (None, None);
        let (devices, dims, options) = Default::default();
        Load { source, precision, cache_dir, devices, dims, options, allow_fallback: false, profile: false }
    }
}

/// Options as a plugin gets them: dotted keys; scalars as text, objects as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options(pub BTreeMap<String, String>);

impl Options {
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// The option as `T`.
    ///
    /// # Errors
    /// `InvalidArgument`, naming the key and the text, where it does not parse.
    pub fn parse<T: std::str::FromStr>(&self, key: &str) -> Result<Option<T>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let wrong = |_| Error::invalid(format!("option {key}: '{value}' is not a {}", std::any::type_name::<T>()));
        value.parse().map(Some).map_err(wrong)
    }

    /// # Safety
    /// `raw` is null or a caller's options, its items readable.
    pub(crate) unsafe fn from_raw(raw: *const sb_options) -> Options {
        // SAFETY: the caller promises it.
        let Some(raw) = (unsafe { abi_size::read(raw) }) else { return Options::default() };
        if raw.items.is_null() {
            return Options::default();
        }
        // SAFETY: `count` frozen elements at `items`, each with two strings that live through the call.
        let items = unsafe { std::slice::from_raw_parts(raw.items, raw.count as usize) };
        let pair = |item: &sb_option| unsafe {
            Some((text::borrow(item.key)?.into_owned(), text::borrow(item.value).unwrap_or_default().into_owned()))
        };
        Options(items.iter().filter_map(pair).collect())
    }

    /// Lends the options in C layout for the length of one call.
    pub(crate) fn lend<R>(&self, call: impl FnOnce(*const sb_options) -> R) -> R {
        let texts: Vec<(CString, CString)> =
            self.0.iter().map(|(k, v)| (text::c_string(k), text::c_string(v))).collect();
        let items: Vec<sb_option> =
            texts.iter().map(|(key, value)| sb_option { key: key.as_ptr(), value: value.as_ptr() }).collect();
        let mut raw: sb_options = abi_size::sized();
        raw.count = items.len() as u32;
        raw.items = items.as_ptr();
        call(&raw const raw)
    }
}
