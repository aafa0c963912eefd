//! A panic as a text. Libraries that have no error for a thread or memory that cannot be had panic.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

thread_local! {
    /// How many callers on this thread make a text of a panic, so that nobody prints it.
    static CATCHING: Cell<u32> = const { Cell::new(0) };
    /// What it said, and where.
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Does the work. What it leaves half done is dropped with it.
///
/// # Errors
/// It panicked: what it said, in one line.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |info| match CATCHING.get() {
            0 => print(info),
            _ => SAID.set(Some(said(info))),
        }));
    });
    CATCHING.set(CATCHING.get() + 1);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(CATCHING.get() - 1);
    // What another thread said, which this one handed on, is in the payload alone.
    done.map_err(|payload| SAID.take().unwrap_or_else(|| text_of(payload.as_ref())))
}

fn said(info: &PanicHookInfo<'_>) -> String {
    let text = text_of(info.payload());
    info.location().map_or(text.clone(), |place| format!("{text} ({}:{})", file_name(place.file()), place.line()))
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.and_then(|text| text.lines().next()).unwrap_or("for an unknown reason").to_string()
}

/// Where sources lay when they were built is of no use to whoever reads it.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_panics_becomes_a_text_with_its_place() {
        let told = caught(|| panic!("no {}\nand more", "thread")).unwrap_err();
        assert!(told.starts_with("no thread (caught.rs:"), "{told}");
        assert_eq!(caught(|| 7), Ok(7));
    }

    #[test]
    fn one_within_another_is_caught_by_the_nearer() {
        assert_eq!(caught(|| caught(|| panic!("inner")).is_err()), Ok(true));
        assert!(caught(|| panic!("outer")).is_err());
    }

    #[test]
    fn what_another_thread_handed_on_is_told_too() {
        let payload: Box<dyn Any + Send> = Box::new("of a thread".to_string());
        assert_eq!(caught(|| panic::resume_unwind(payload)).unwrap_err(), "of a thread");
    }
}
