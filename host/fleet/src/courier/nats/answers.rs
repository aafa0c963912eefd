//! What the client and the server say against a call.

use crate::courier::CourierError;
use async_nats::jetstream;
use async_nats::jetstream::context::{CreateStreamError, CreateStreamErrorKind, GetStreamError, GetStreamErrorKind};

pub(super) fn is_refused(error: &async_nats::ConnectError) -> bool {
    use async_nats::ConnectErrorKind::{Authentication, AuthorizationViolation};
    matches!(error.kind(), Authentication | AuthorizationViolation)
}

pub(super) fn away(error: impl std::error::Error) -> CourierError {
    CourierError::Away(whole(&error))
}

/// An error with all its causes, in one line.
pub(super) fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = inner.source();
    }
    text
}

/// The code of an answer of JetStream against a call.
pub(super) fn code(error: &(dyn std::error::Error + 'static)) -> Option<u64> {
    let mut error = Some(error);
    while let Some(inner) = error {
        if let Some(answer) = inner.downcast_ref::<jetstream::Error>() {
            return Some(answer.error_code().0);
        }
        error = inner.source();
    }
    None
}

/// The server's disk cannot hold a stream of that size.
pub(super) fn is_no_room(error: &CreateStreamError) -> bool {
    const NO_ROOM: u64 = 10047;
    matches!(error.kind(), CreateStreamErrorKind::JetStream(answer) if answer.error_code().0 == NO_ROOM)
}

pub(super) fn is_no_stream(error: &GetStreamError) -> bool {
    const NO_STREAM: u64 = 10059;
    matches!(error.kind(), GetStreamErrorKind::JetStream(answer) if answer.error_code().0 == NO_STREAM)
}
