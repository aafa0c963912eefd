//! An answer that comes token by token, as server-sent events: lines that begin with `data: `, each with a piece of JSON, the last with `[DONE]`. It is read
//! as it comes, in whatever pieces.

use serde::Deserialize;
use serde::de::{Deserializer, Visitor};
use skillbench_plugin_api::{Error, Result, Why};
use std::fmt;

/// Bytes of one line. A server that sends longer ones sends no tokens.
const LONGEST_LINE: usize = 1 << 20;

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Usage>,
    error: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Choice {
    text: Option<Text>,
    delta: Option<Delta>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<Text>,
    /// Of models that think aloud first. Servers call it one or the other, and some send both.
    reasoning_content: Option<Text>,
    reasoning: Option<Text>,
}

#[derive(Deserialize)]
struct Usage {
    completion_tokens: Option<u64>,
}

/// A text, of which only counts whether it has a letter: none is copied.
struct Text {
    is_empty: bool,
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text, D::Error> {
        struct OfText;
        impl Visitor<'_> for OfText {
            type Value = Text;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a text")
            }

            fn visit_str<E>(self, text: &str) -> Result<Text, E> {
                Ok(Text { is_empty: text.is_empty() })
            }
        }
        deserializer.deserialize_str(OfText)
    }
}

/// What came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Streamed {
    /// When each piece of text was there, by the clock of whoever read them.
    pub pieces: Vec<u64>,
    /// How many tokens the server says they are; `None`: it does not say.
    pub tokens: Option<u64>,
}

/// Reads one answer.
pub struct Reader<'u> {
    /// For messages.
    url: &'u str,
    /// Of a line whose end is not there yet.
    begun: Vec<u8>,
    streamed: Streamed,
    done: bool,
}

impl<'u> Reader<'u> {
    /// `tokens`: how many are asked for.
    pub fn new(url: &'u str, tokens: usize) -> Reader<'u> {
        // What is asked for may be more than ever comes.
        let pieces = Vec::with_capacity(tokens.min(1024));
        Reader { url, begun: vec![], streamed: Streamed { pieces, tokens: None }, done: false }
    }

    /// Takes the next bytes, which were there at `at`.
    ///
    /// # Errors
    /// What is no such stream, or says that something went wrong.
    pub fn take(&mut self, mut bytes: &[u8], at: u64) -> Result<()> {
        while !self.done
            && let Some(end) = bytes.iter().position(|byte| *byte == b'\n')
        {
            let (line, rest) = bytes.split_at(end + 1);
            bytes = rest;
            if self.begun.is_empty() {
                self.line(line, at)?;
            } else {
                self.begun.extend_from_slice(line);
                let whole = std::mem::take(&mut self.begun);
                self.line(&whole, at)?;
                self.begun = whole;
                self.begun.clear();
            }
        }
        if !self.done {
            self.begun.extend_from_slice(bytes);
            self.refuse_long(self.begun.len())?;
        }
        Ok(())
    }

    /// Whether the answer has said that it is whole. What comes after that tells nothing.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// No more bytes come, which was known at `at`.
    ///
    /// # Errors
    /// An answer that ended before it said so, and one without text.
    pub fn end(mut self, at: u64) -> Result<Streamed> {
        if !self.done {
            // The last line may lack its end.
            let last = std::mem::take(&mut self.begun);
            self.line(&last, at)?;
        }
        let pieces = self.streamed.pieces.len();
        if !self.done {
            return Err(self.broken(format!("closed its stream after {pieces} tokens, before its end")));
        }
        match pieces {
            0 => Err(self.broken("ended its answer without a token".into())),
            _ => Ok(self.streamed),
        }
    }

    /// An answer that is not whole, with what happened to it.
    pub fn broken(&self, what: String) -> Error {
        Error::internal(format!("{} {what}: see the server's log", self.url)).because(Why::RUNTIME)
    }

    fn refuse_long(&self, length: usize) -> Result<()> {
        match length >= LONGEST_LINE {
            true => Err(self.broken("streams a line without an end".into())),
            false => Ok(()),
        }
    }

    fn line(&mut self, line: &[u8], at: u64) -> Result<()> {
        self.refuse_long(line.len())?;
        // Comments, which keep a connection open, names of events and empty lines tell nothing.
        let Some(data) = line.strip_prefix(b"data:") else { return Ok(()) };
        match data.trim_ascii() {
            b"[DONE]" => self.done = true,
            b"" => {}
            data => {
                let chunk: Chunk = serde_json::from_slice(data)
                    .map_err(|error| self.broken(format!("streams what is no JSON ({error})")))?;
                if self.has_text(&chunk)? {
                    self.streamed.pieces.push(at);
                }
                let told = chunk.usage.and_then(|usage| usage.completion_tokens);
                self.streamed.tokens = told.or(self.streamed.tokens);
            }
        }
        Ok(())
    }

    /// Whether a piece has text that its user sees: a token, as far as anybody can tell from outside. Others have a role, an end, or counts.
    fn has_text(&self, chunk: &Chunk) -> Result<bool> {
        if let Some(error) = &chunk.error {
            let text: String = error.to_string().chars().filter(|char| !char.is_control()).take(300).collect();
            return Err(self.broken(format!("ends its answer with an error ({text})")));
        }
        let has = |text: &Option<Text>| text.as_ref().is_some_and(|text| !text.is_empty);
        let of_delta = |delta: &Delta| has(&delta.content) || has(&delta.reasoning_content) || has(&delta.reasoning);
        Ok(chunk.choices.iter().any(|choice| has(&choice.text) || choice.delta.as_ref().is_some_and(of_delta)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In pieces of so many bytes. The clock tells how many lines had come before.
    fn in_pieces(bytes: &[u8], length: usize) -> Result<Streamed> {
        let (mut reader, mut lines) = (Reader::new("http://a:1", 2), 0);
        for piece in bytes.chunks(length) {
            reader.take(piece, lines)?;
            lines += piece.iter().filter(|byte| **byte == b'\n').count() as u64;
        }
        reader.end(lines)
    }

    /// Byte by byte, and all at once, which has to come to the same.
    fn told(text: &str) -> Result<Streamed> {
        let bytewise = in_pieces(text.as_bytes(), 1);
        for length in [2, 7, text.len().max(1)] {
            let other = in_pieces(text.as_bytes(), length);
            let shown = |told: &Result<Streamed>| match told {
                Ok(streamed) => format!("{} {:?}", streamed.pieces.len(), streamed.tokens),
                Err(error) => error.message.clone(),
            };
            assert_eq!(shown(&bytewise), shown(&other), "in pieces of {length}");
        }
        bytewise
    }

    #[test]
    fn each_piece_of_text_counts_when_its_line_came() {
        let text = "data: {\"choices\":[{\"text\":\" a\"}]}\n\n: still here\ndata: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"length\"}]}\r\n\r\n\
            data:\ndata: {\"choices\":[{\"text\":\" b\"}],\"usage\":{\"completion_tokens\":2}}\ndata: [DONE]\n";
        assert_eq!(told(text).unwrap(), Streamed { pieces: vec![0, 6], tokens: Some(2) });
        assert_eq!(told(text.trim_end()).unwrap().pieces.len(), 2, "the last line without its end");
    }

    #[test]
    fn a_line_that_comes_in_parts_is_there_with_its_last() {
        let mut reader = Reader::new("http://a:1", 2);
        reader.take(b"data: {\"choices\":[{\"te", 1).unwrap();
        reader.take(b"xt\":\"a\"}]}", 2).unwrap();
        reader.take(b"\n\ndata: {\"choices\":[{\"text\":\"b\"}]}\n", 3).unwrap();
        assert!(!reader.is_done());
        reader.take(b"data: [DONE]\ndata: what nobody reads\n", 4).unwrap();
        assert!(reader.is_done());
        assert_eq!(reader.end(5).unwrap().pieces, [3, 3]);
    }

    #[test]
    fn a_chat_tells_its_role_first_and_may_think_aloud() {
        let text = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\
            data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\",\"reasoning\":\"hm\"}}]}\ndata: {\"choices\":[{\"delta\":{\"content\":\"yes\"}}]}\n\
            data: {\"choices\":[],\"usage\":null}\ndata: [DONE]\n";
        assert_eq!(told(text).unwrap(), Streamed { pieces: vec![1, 2], tokens: None });
    }

    #[test]
    fn what_is_no_whole_answer_is_told_with_what_happened() {
        let piece = "data: {\"choices\":[{\"text\":\"a\"}]}\n";
        for (text, wanted) in [
            ("", "closed its stream after 0 tokens"),
            (piece, "closed its stream after 1 tokens"),
            ("data: {\"choices\": [\n", "no JSON"),
            ("data: {\"choices\": [{\"text\": 5}]}\n", "no JSON"),
            ("data: [DONE]\n", "without a token"),
            ("data: {\"error\":{\"message\":\"no room\"}}\n", "no room"),
            ("<html>\n", "closed its stream after 0 tokens"),
        ] {
            let error = told(text).unwrap_err();
            assert!(
                error.message.contains(wanted) && error.message.starts_with("http://a:1 "),
                "{text}: {}",
                error.message
            );
        }
        let endless = "x".repeat(LONGEST_LINE);
        for endless in [format!("data: {endless}"), format!("data: {endless}\n")] {
            for length in [4096, endless.len()] {
                assert!(in_pieces(endless.as_bytes(), length).unwrap_err().message.contains("without an end"));
            }
        }
    }

    /// Whatever bytes a server sends, the answer is a figure or an error, and comes to an end.
    #[test]
    fn hostile_bytes_are_an_error_and_nothing_else() {
        let mut rng = fastrand::Rng::with_seed(7);
        let parts: [&[u8]; 8] = [
            b"data: ",
            b"[DONE]",
            b"\n",
            b"{\"choices\":[",
            b"{\"text\":\"\\ud800\"}",
            b"]}",
            b"\xff\xfe",
            b"data:{\"usage\":{\"completion_tokens\":-1}}\n",
        ];
        for _ in 0..2_000 {
            let bytes: Vec<u8> = (0..rng.usize(..20)).flat_map(|_| parts[rng.usize(..parts.len())].to_vec()).collect();
            let _ = in_pieces(&bytes, rng.usize(1..40));
        }
    }
}
