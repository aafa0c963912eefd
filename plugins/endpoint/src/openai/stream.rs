//! An answer that comes token by token, as server-sent events: lines that begin with `data: `, each with a piece of JSON, the last with `[DONE]`.

use serde::Deserialize;
use skillbench_plugin_api::{Code, Error, Result, Why};
use std::io::BufRead;

/// Bytes of one line. A server that sends longer ones sends no tokens.
const LONGEST_LINE: u64 = 1 << 20;

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Usage>,
    error: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Choice {
    text: Option<String>,
    delta: Option<Delta>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
    /// Of models that think aloud first. Servers call it one or the other, and some send both.
    reasoning_content: Option<String>,
    reasoning: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    completion_tokens: Option<u64>,
}

/// What came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Streamed {
    /// When each piece of text was there, by the clock that was given.
    pub pieces: Vec<u64>,
    /// How many tokens the server says they are; `None`: it does not say.
    pub tokens: Option<u64>,
}

/// Reads an answer to its end. `url` is for messages, `now` the clock: it is asked as soon as a line is there, before that is read.
///
/// # Errors
/// A stream that breaks off, is no such stream, or says that something went wrong; one without text.
pub fn read(mut lines: impl BufRead, url: &str, now: impl Fn() -> u64) -> Result<Streamed> {
    let broken = |what: String| Error::internal(format!("{url} {what}: see the server's log")).because(Why::RUNTIME);
    let mut streamed = Streamed::default();
    let mut line = vec![];
    loop {
        line.clear();
        let read = std::io::Read::take(&mut lines, LONGEST_LINE).read_until(b'\n', &mut line);
        let at = now();
        match read {
            Ok(0) => {
                return Err(broken(format!(
                    "closed its stream after {} tokens, before its end",
                    streamed.pieces.len()
                )));
            }
            Ok(length) if length as u64 == LONGEST_LINE => return Err(broken("streams a line without an end".into())),
            Ok(_) => {}
            Err(error) => return Err(unread(error, &broken)),
        }
        // Comments, which keep a connection open, names of events and empty lines tell nothing.
        let Some(data) = line.strip_prefix(b"data:") else { continue };
        match data.trim_ascii() {
            b"[DONE]" => break,
            b"" => {}
            data => {
                let chunk: Chunk = serde_json::from_slice(data)
                    .map_err(|error| broken(format!("streams what is no JSON ({error})")))?;
                if has_text(&chunk, &broken)? {
                    streamed.pieces.push(at);
                }
                streamed.tokens = chunk.usage.and_then(|usage| usage.completion_tokens).or(streamed.tokens);
            }
        }
    }
    // Only a connection whose answer was read to its end is used again.
    let _ = std::io::copy(&mut std::io::Read::take(&mut lines, LONGEST_LINE), &mut std::io::sink());
    match streamed.pieces.is_empty() {
        true => Err(broken("ended its answer without a token".into())),
        false => Ok(streamed),
    }
}

fn unread(error: std::io::Error, broken: &dyn Fn(String) -> Error) -> Error {
    let timed_out = error.get_ref().is_some_and(|inner| {
        inner.downcast_ref::<ureq::Error>().is_some_and(|inner| matches!(inner, ureq::Error::Timeout(_)))
    });
    match timed_out {
        true => Error::new(
            Code::DeadlineExceeded,
            format!("{}: its timeout was over", broken("did not end its stream".into()).message),
        ),
        false => broken(format!("broke off its stream ({error})")),
    }
}

/// Whether a piece has text that its user sees: a token, as far as anybody can tell from outside. Others have a role, an end, or counts.
fn has_text(chunk: &Chunk, broken: &dyn Fn(String) -> Error) -> Result<bool> {
    if let Some(error) = &chunk.error {
        let text: String = error.to_string().chars().filter(|char| !char.is_control()).take(300).collect();
        return Err(broken(format!("ends its answer with an error ({text})")));
    }
    let of_delta = |delta: &Delta| {
        let texts = [&delta.content, &delta.reasoning_content, &delta.reasoning];
        texts.into_iter().flatten().any(|text| !text.is_empty())
    };
    Ok(chunk.choices.iter().any(|choice| {
        choice.text.as_ref().is_some_and(|text| !text.is_empty()) || choice.delta.as_ref().is_some_and(of_delta)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn told(text: &str) -> Result<Streamed> {
        let clock = Cell::new(0);
        read(text.as_bytes(), "http://a:1", || clock.replace(clock.get() + 1))
    }

    #[test]
    fn each_piece_of_text_counts_when_its_line_came() {
        let text = "data: {\"choices\":[{\"text\":\" a\"}]}\n\n: still here\ndata: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"length\"}]}\r\n\r\n\
            data:\ndata: {\"choices\":[{\"text\":\" b\"}],\"usage\":{\"completion_tokens\":2}}\ndata: [DONE]\n";
        assert_eq!(told(text).unwrap(), Streamed { pieces: vec![0, 6], tokens: Some(2) });
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
        let endless = format!("data: {}", "x".repeat(LONGEST_LINE as usize));
        assert!(told(&endless).unwrap_err().message.contains("without an end"));
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
            let _ = read(&bytes[..], "http://a:1", || 0);
        }
    }
}
