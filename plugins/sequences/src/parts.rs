//! What runs beside the decoder: once before the first token, or for each token.

use crate::decoder::{Decoder, find};
use crate::fill;
use crate::manifest::Plan;
use skillbench_plugin_api::client::{Output, Request};
use skillbench_plugin_api::sdk::{Target, TargetModel};
use skillbench_plugin_api::{DType, Direction, Error, HostTensor, Port, Result};
use std::sync::Arc;
use std::time::Instant;

/// A loaded part by its name.
pub type Loaded<'m> = (&'m str, &'m TargetModel<'m>);

/// The part of a list that has this name.
///
/// # Errors
/// `Internal` where it was not loaded.
pub fn loaded<'m>(models: &[Loaded<'m>], name: &str) -> Result<&'m TargetModel<'m>> {
    let found = models.iter().find(|(known, _)| *known == name).map(|(_, model)| *model);
    found.ok_or_else(|| Error::internal(format!("part '{name}' is not loaded")))
}

/// A part that runs once for each sequence, on the inputs that the host made for it.
pub struct Once<'m> {
    pub name: String,
    request: Request<'m>,
    /// Outputs, and the decoder's inputs that they are; for an image its one output, which is no input yet.
    gives: Vec<(u32, Option<u32>)>,
}

impl<'m> Once<'m> {
    fn new(
        target: &Target<'_>,
        name: &str,
        model: &'m TargetModel<'m>,
        gives: Vec<(u32, Option<u32>)>,
    ) -> Result<Once<'m>> {
        let mut request = model.request()?;
        target.prepare(model, &mut request, 0)?;
        Ok(Once { name: name.into(), request, gives })
    }

    /// Runs, and hands over what it gives; what goes nowhere yet is returned.
    fn run(&mut self, decoder: &mut Decoder<'_>) -> Result<Option<Arc<Output>>> {
        self.request.run()?;
        let mut rest = None;
        for (from, to) in &self.gives {
            let output = Arc::new(self.request.take_output(*from)?);
            match to {
                Some(to) => decoder.give(*to, output)?,
                None => rest = Some(output),
            }
        }
        Ok(rest)
    }
}

/// What makes embeddings of tokens.
pub struct Embedder<'m> {
    model: &'m TargetModel<'m>,
    request: Request<'m>,
    tokens: u32,
    from: u32,
}

impl Embedder<'_> {
    pub fn run(&mut self, batch: usize, tokens: &[i64]) -> Result<Output> {
        let tensor = fill::tokens(self.port(), batch, tokens)?;
        self.request.bind(Direction::Input, self.tokens, tensor)?;
        self.request.run()?;
        self.request.take_output(self.from)
    }

    fn port(&self) -> &Port {
        &self.model.inputs()[self.tokens as usize]
    }
}

/// Everything beside the decoder.
pub struct Parts<'m> {
    /// In the order in which they run.
    pub once: Vec<Once<'m>>,
    pub embed: Option<Embedder<'m>>,
    /// What the image became, in the sequence that runs.
    rows: Option<Arc<Output>>,
}

impl<'m> Parts<'m> {
    /// # Errors
    /// `InvalidArgument` for a port that is not there, and whatever backend and host say.
    pub fn new(target: &Target<'_>, plan: &Plan, models: &[Loaded<'m>], decoder: &Decoder<'_>) -> Result<Parts<'m>> {
        let mut once = vec![];
        for before in &plan.before {
            let model = loaded(models, &before.part)?;
            let give = |give: &crate::manifest::Give| {
                Ok((find(model.outputs(), &give.from, "output")?, Some(decoder.input(&give.to)?)))
            };
            once.push(Once::new(target, &before.part, model, before.give.iter().map(give).collect::<Result<_>>()?)?);
        }
        if let Some(image) = &plan.image {
            let model = loaded(models, &image.part)?;
            once.push(Once::new(
                target,
                &image.part,
                model,
                vec![(find(model.outputs(), &image.from, "output")?, None)],
            )?);
        }
        let embed = plan.embed.as_ref().map(|embed| {
            let model = loaded(models, &embed.part)?;
            let (tokens, from) =
                (find(model.inputs(), &embed.tokens, "input")?, find(model.outputs(), &embed.from, "output")?);
            let mut request = model.request()?;
            target.prepare(model, &mut request, 0)?;
            Ok::<_, Error>(Embedder { model, request, tokens, from })
        });
        Ok(Parts { once, embed: embed.transpose()?, rows: None })
    }

    /// Runs what comes before the first token; `times` gets the nanoseconds of each.
    pub fn before(&mut self, decoder: &mut Decoder<'_>, times: &mut Vec<f64>) -> Result<()> {
        for part in &mut self.once {
            let start = Instant::now();
            if let Some(rows) = part.run(decoder)? {
                self.rows = Some(rows);
            }
            times.push(start.elapsed().as_nanos() as f64);
        }
        Ok(())
    }

    /// The image's rows, where there is an image.
    pub fn rows(&self) -> Option<Arc<Output>> {
        self.rows.clone()
    }
}

/// Rows and embeddings of each sequence, one after the other: [batch, rows, width] and [batch, tokens, width].
///
/// # Errors
/// `Internal` where they do not fit together.
pub fn joined(rows: &Output, embeddings: &Output) -> Result<(HostTensor, usize)> {
    let (&[batch, first, width], &[other_batch, second, other_width]) = (rows.shape(), embeddings.shape()) else {
        return Err(apart(rows, embeddings));
    };
    if batch != other_batch || width != other_width || rows.dtype() != embeddings.dtype() {
        return Err(apart(rows, embeddings));
    }
    let mut all = HostTensor::zeroed(rows.dtype(), &[batch, first + second, width])?;
    join(all.bytes_mut(), rows.bytes(), embeddings.bytes(), batch);
    Ok((all, first + second))
}

fn apart(rows: &Output, embeddings: &Output) -> Error {
    let told = |dtype: DType, shape: &[usize]| format!("{} {shape:?}", dtype.name());
    let (rows, embeddings) = (told(rows.dtype(), rows.shape()), told(embeddings.dtype(), embeddings.shape()));
    Error::internal(format!("the image became {rows}, the prompt {embeddings}: one cannot go before the other"))
}

/// Joins two tensors along their second dimension.
fn join(all: &mut [u8], one: &[u8], other: &[u8], batch: usize) {
    let (first, second) = (one.len() / batch.max(1), other.len() / batch.max(1));
    if first + second == 0 {
        return;
    }
    for (index, row) in all.chunks_exact_mut(first + second).enumerate() {
        row[..first].copy_from_slice(&one[index * first..][..first]);
        row[first..].copy_from_slice(&other[index * second..][..second]);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn rows_of_an_image_go_before_the_prompt_of_their_own_sequence() {
        let mut all = [0; 10];
        super::join(&mut all, &[1, 2, 3, 4, 5, 6], &[7, 8, 9, 10], 2);
        assert_eq!(all, [1, 2, 3, 7, 8, 4, 5, 6, 9, 10]);
    }
}
