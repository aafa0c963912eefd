//! What a server answers, as far as it has come: tokens or an embedding.

use super::options::{Api, Question};
use super::stream::{Reader, Streamed};
use crate::failure::{late, lost};
use serde::Deserialize;
use skillbench_plugin_api::{Code, Error, Result, Why};
use std::time::Duration;

/// Bytes of an embedding.
const LONGEST: usize = 64 << 20;

pub struct Answer<'u> {
    url: &'u str,
    /// Its head is there.
    begun: bool,
    of: Of<'u>,
}

enum Of<'u> {
    Tokens(Reader<'u>),
    Embedding(Vec<u8>),
}

impl<'u> Answer<'u> {
    pub fn new(url: &'u str, question: &Question) -> Answer<'u> {
        let of = match question.api {
            Api::Embeddings => Of::Embedding(vec![]),
            Api::Completions | Api::Chat => Of::Tokens(Reader::new(url, question.new_tokens)),
        };
        Answer { url, begun: false, of }
    }

    pub fn begin(&mut self) {
        self.begun = true;
    }

    /// Takes the next bytes, which were there at `at`.
    ///
    /// # Errors
    /// What is no answer.
    pub fn take(&mut self, bytes: &[u8], at: u64) -> Result<()> {
        match &mut self.of {
            Of::Tokens(reader) => reader.take(bytes, at),
            Of::Embedding(all) if all.len() + bytes.len() <= LONGEST => {
                all.extend_from_slice(bytes);
                Ok(())
            }
            Of::Embedding(_) => {
                let text = format!("{} answers with more than {LONGEST} bytes", self.url);
                Err(Error::invalid(text).because(Why::RUNTIME))
            }
        }
    }

    /// Whether all is there, whatever may still come.
    pub fn is_done(&self) -> bool {
        matches!(&self.of, Of::Tokens(reader) if reader.is_done())
    }

    /// All that comes was there at `at`.
    ///
    /// # Errors
    /// An answer that is not whole.
    pub fn end(self, at: u64) -> Result<Streamed> {
        match self.of {
            Of::Tokens(reader) => reader.end(at),
            Of::Embedding(bytes) => embedded(&bytes, self.url).map(|()| Streamed::default()),
        }
    }

    /// The connection failed while it came.
    pub fn lost(&self, error: &hyper::Error) -> Error {
        match &self.of {
            Of::Tokens(reader) if self.begun => reader.broken(format!("broke off its stream ({})", cause(error))),
            _ => lost(self.url, &cause(error)),
        }
    }

    /// Its time was over.
    pub fn late(&self, timeout: Duration) -> Error {
        match &self.of {
            Of::Tokens(reader) if self.begun => {
                let text = reader.broken("did not end its stream".into()).message;
                let seconds = timeout.as_secs_f64();
                let next = format!("{text}: its timeout of {seconds} s was over: raise `--option openai:timeout_s=`");
                Error::new(Code::DeadlineExceeded, next)
            }
            _ => late(self.url, timeout, "openai"),
        }
    }
}

/// What is at the bottom of a failure: the rest of its words says where in a library it came up.
fn cause(error: &hyper::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    match error.is_incomplete_message() {
        true => "it was closed before the answer was whole".into(),
        false => crate::failure::plain(&cause.to_string()),
    }
}

#[derive(Deserialize)]
struct Embeddings {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    embedding: Vec<f32>,
}

/// An answer has to have what was asked for: numbers.
fn embedded(answer: &[u8], url: &str) -> Result<()> {
    let wrong =
        |what: String| Error::invalid(format!("{url} answers with no embedding ({what})")).because(Why::RUNTIME);
    let answer: Embeddings = serde_json::from_slice(answer).map_err(|error| wrong(error.to_string()))?;
    match &answer.data[..] {
        [one] if !one.embedding.is_empty() && one.embedding.iter().all(|value| value.is_finite()) => Ok(()),
        [_] => Err(wrong("no finite numbers".into())),
        several => Err(wrong(format!("{} of one", several.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_embedding_is_a_list_of_numbers() {
        let told = |text: &str| embedded(text.as_bytes(), "http://a:1").map_err(|error| error.message);
        assert_eq!(told(r#"{"data": [{"embedding": [0.5, -1]}]}"#), Ok(()));
        for text in
            ["", "{}", r#"{"data": []}"#, r#"{"data": [{"embedding": []}]}"#, r#"{"data": [{"embedding": [1e999]}]}"#]
        {
            assert!(told(text).unwrap_err().contains("no embedding"), "{text}");
        }
    }
}
