//! Reading what is stored, as it comes.

use super::answers::away;
use super::settings::SUBMISSIONS;
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
    pub(super) messages: Option<pull::Ordered>,
}

impl Drop for NatsFollow<'_> {
    fn drop(&mut self) {
        // A reader that ends tells the server, from within the runtime.
        let _within = self.courier.runtime.enter();
        self.messages = None;
    }
}

impl Follow for NatsFollow<'_> {
    fn next(&mut self, wait: Duration) -> Result<Option<Message>, CourierError> {
        let NatsFollow { courier, filter, after, messages } = self;
        let read = courier.runtime.block_on(async {
            if messages.is_none() {
                let begun = tokio::time::timeout(2 * ANSWER, read_from(&courier.jetstream, filter, *after)).await;
                *messages = Some(begun.map_err(|_| CourierError::Away("it did not answer".into()))??);
            }
            let Some(messages) = messages else { return Ok(None) };
            match tokio::time::timeout(wait, messages.next()).await {
                Err(_) => Ok(None),
                Ok(None) => Err(CourierError::Away("it ended the connection".into())),
                Ok(Some(Err(error))) => Err(CourierError::Away(error.to_string())),
                Ok(Some(Ok(message))) => {
                    let info = message.info().map_err(|error| CourierError::Away(error.to_string()))?;
                    let (sequence, at) = (info.stream_sequence, info.published.unix_timestamp());
                    let (subject, body) = (message.subject.to_string(), message.payload.to_vec());
                    Ok(Some((sequence, Message { subject, body, at, has_more: info.pending > 0 })))
                }
            }
        });
        match read {
            Ok(Some((sequence, message))) => {
                self.after = sequence;
                Ok(Some(message))
            }
            Ok(None) => Ok(None),
            Err(error) => {
                self.messages = None;
                Err(error)
            }
        }
    }
}

async fn read_from(jetstream: &jetstream::Context, filter: &str, after: u64) -> Result<pull::Ordered, CourierError> {
    let stream = jetstream.get_stream_no_info(SUBMISSIONS).await.map_err(away)?;
    let deliver_policy = match after {
        0 => DeliverPolicy::All,
        after => DeliverPolicy::ByStartSequence { start_sequence: after + 1 },
    };
    let reader = pull::OrderedConfig { filter_subject: filter.into(), deliver_policy, ..Default::default() };
    stream.create_consumer(reader).await.map_err(away)?.messages().await.map_err(away)
}
