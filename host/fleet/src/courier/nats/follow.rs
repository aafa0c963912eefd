//! Reading what is stored, as it comes.

use super::answers::away;
use super::settings::stream_of;
use super::{ANSWER, NatsCourier};
use crate::courier::{CourierError, Follow, Message};
use async_nats::jetstream;
use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use futures_util::StreamExt;
use std::time::Duration;

pub(super) struct NatsFollow<'c> {
    pub(super) courier: &'c NatsCourier,
    pub(super) filter: String,
    /// The last message that was read.
    pub(super) after: u64,
    /// Whether the server has more behind it, by what it said last.
    pub(super) has_more: bool,
    pub(super) messages: Option<pull::Ordered>,
}

impl Drop for NatsFollow<'_> {
    fn drop(&mut self) {
        // A reader that ends tells the server, from within the runtime.
        let _within = self.courier.runtime.enter();
        self.messages = None;
    }
}

impl NatsFollow<'_> {
    /// Begins to read behind the last message, where that was not begun.
    fn begin(&mut self) -> Result<&mut pull::Ordered, CourierError> {
        let messages = match self.messages.take() {
            Some(messages) => messages,
            None => {
                let reading = read_from(&self.courier.jetstream, &self.filter, self.after);
                let begun = self.courier.runtime.block_on(async { tokio::time::timeout(2 * ANSWER, reading).await });
                let (messages, has_more) = begun.map_err(|_| CourierError::Away("it did not answer".into()))??;
                self.has_more = has_more;
                messages
            }
        };
        Ok(self.messages.insert(messages))
    }
}

impl Follow for NatsFollow<'_> {
    fn next(&mut self, wait: Duration) -> Result<Option<Message>, CourierError> {
        let courier = self.courier;
        let messages = self.begin()?;
        let read = courier.runtime.block_on(async {
            match tokio::time::timeout(wait, messages.next()).await {
                Err(_) => Ok(None),
                Ok(None) => Err(CourierError::Away("it ended the connection".into())),
                Ok(Some(Err(error))) => Err(CourierError::Away(error.to_string())),
                Ok(Some(Ok(message))) => {
                    let info = message.info().map_err(|error| CourierError::Away(error.to_string()))?;
                    let (at, place) = (info.published.unix_timestamp(), (info.stream_sequence, info.pending > 0));
                    let (subject, body) = (message.subject.to_string(), message.payload.to_vec());
                    Ok(Some((place, Message { subject, body, at })))
                }
            }
        });
        match read {
            Ok(Some((place, message))) => {
                (self.after, self.has_more) = place;
                Ok(Some(message))
            }
            Ok(None) => Ok(None),
            Err(error) => {
                self.messages = None;
                Err(error)
            }
        }
    }

    fn has_more(&mut self) -> Result<bool, CourierError> {
        self.begin()?;
        Ok(self.has_more)
    }
}

/// Reads behind a message; also whether there is anything.
async fn read_from(
    jetstream: &jetstream::Context,
    filter: &str,
    after: u64,
) -> Result<(pull::Ordered, bool), CourierError> {
    let stream = jetstream.get_stream_no_info(stream_of(filter)).await.map_err(away)?;
    let deliver_policy = match after {
        0 => DeliverPolicy::All,
        after => DeliverPolicy::ByStartSequence { start_sequence: after + 1 },
    };
    let reader = pull::OrderedConfig { filter_subject: filter.into(), deliver_policy, ..Default::default() };
    let consumer = stream.create_consumer(reader).await.map_err(away)?;
    let has_more = consumer.cached_info().num_pending > 0;
    Ok((consumer.messages().await.map_err(away)?, has_more))
}
