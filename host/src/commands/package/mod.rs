//! `host plugin add | pack | trust | index`, and what the other commands tell of plugin packages.
//!
//! The work is that of `skillbench-packages`; here are the words, and the one thing that it cannot: asking a library in a worker.

mod add;
mod index;
mod pack;
mod trust;

pub use add::add;
pub use index::index;
pub use pack::pack;
pub use trust::trust;

use super::{CommandError, failed, usage};
use crate::cli::Global;
use skillbench_engine::describe::DescriptionCache;
use skillbench_packages::{Contract, Here, Home, Limits, PackageError, Receipt, Wishes};
use skillbench_plugin_api::raw::{SB_ABI_MAJOR, SB_ABI_MINOR};
use skillbench_worker::sandbox::Sandbox;
use skillbench_worker::{Description, Library, libc_version};
use std::path::{Path, PathBuf};

/// The contract of this host.
const CONTRACT: Contract = Contract { major: SB_ABI_MAJOR, minor: SB_ABI_MINOR };

/// What a package has to fit, and what of it is taken.
fn wishes(unsigned: bool, indexes: Vec<String>) -> Wishes {
    Wishes { unsigned, indexes, here: here(), contract: CONTRACT, limits: Limits::default() }
}

fn here() -> Here {
    Here::with(libc_version().as_deref())
}

/// What was typed wrong ends the program otherwise than what is refused.
fn told(error: PackageError) -> CommandError {
    use PackageError::{NoIndex, NoVersion, NotInIndex, OtherContents, Packed, Registered, Source};
    match error {
        Source { .. } | NoIndex { .. } | NotInIndex { .. } | NoVersion { .. } => usage(error),
        Registered { .. } | OtherContents { .. } | Packed { .. } => usage(error),
        _ => failed(error),
    }
}

/// What a library says of itself: a worker opens these very bytes.
fn described(global: &Global, library: PathBuf, sandbox: Sandbox) -> Result<Description, CommandError> {
    let mut library = Library::new(library, sandbox);
    library.seal([]).map_err(failed)?;
    DescriptionCache::open(&global.stop).describe_anew(&library).map_err(failed)
}

/// What is remembered of the package that brought a library: where it is from, who signed it, and what a check said.
pub fn receipt(library: &Path) -> Option<Receipt> {
    Receipt::of_library(&Home::of_user(), library)
}
