//! A skill that generates, as it was loaded: what sequences are made of.

use crate::check::{self, SideBySide};
use crate::decoder::{Decoder, Keeper};
use crate::greedy::rows;
use crate::manifest::{Manifest, Plan};
use crate::parts::{Loaded, Parts, loaded};
use crate::sampled::{Again, Sampled};
use crate::sequence::{Prompts, Sequence};
use crate::sizes::Sizes;
use crate::slots::Slots;
use skillbench_plugin_api::client::{Output, Request};
use skillbench_plugin_api::sdk::{Host, Level, Target, TargetModel};
use skillbench_plugin_api::{Code, Error, Options, Result};

/// How a skill generates, at a cell's axes, and its parts.
pub struct Loads<'t> {
    pub manifest: Manifest,
    pub plan: Plan,
    pub sizes: Sizes,
    models: Vec<(String, TargetModel<'t>)>,
}

impl<'t> Loads<'t> {
    /// Loads every part, in the order of a sequence: those that see tokens for any number of them, the others for the cell's axes.
    /// `options`: those of the benchmark, of which `new_tokens` and `prompt` are read. `any_batch`: parts that see tokens take batches of
    /// one up to the cell's, too.
    ///
    /// # Errors
    /// `Unimplemented` for a skill that does not generate, `InvalidArgument` for sizes that are none, and whatever the host says of a part.
    pub fn new(host: Host, target: &'t Target<'_>, options: &Options, any_batch: bool) -> Result<Loads<'t>> {
        let (manifest, plan) = Manifest::parse(target.skill(), target.manifest())?;
        let new_tokens = new_tokens(options, target)?;
        let sizes = Sizes::new(target.axes(), options.parse("prompt")?, new_tokens, &manifest, &plan)?;
        let dims = sizes.dims(&manifest, &plan, any_batch);
        let sees_tokens =
            |part: &str| part == plan.decoder || plan.embed.as_ref().is_some_and(|embed| embed.part == part);
        let load = |part: &str| {
            if host.stopping() {
                return Err(Error::new(Code::Cancelled, "the run is being stopped"));
            }
            let model = if sees_tokens(part) { target.load_for(part, &dims) } else { target.load(part) };
            model.map(|model| (part.to_string(), model))
        };
        let models = plan.parts().into_iter().map(load).collect::<Result<_>>()?;
        Ok(Loads { manifest, plan, sizes, models })
    }

    /// The parts by their names.
    pub fn models(&self) -> Vec<Loaded<'_>> {
        self.models.iter().map(|(name, model)| (name.as_str(), model)).collect()
    }
}

fn new_tokens(options: &Options, target: &Target<'_>) -> Result<usize> {
    let asked = options.parse("new_tokens")?.or(target.axis("new_tokens")).unwrap_or(32);
    usize::try_from(asked)
        .ok()
        .filter(|tokens| (1..=100_000).contains(tokens))
        .ok_or_else(|| Error::invalid(format!("option new_tokens: {asked} is not between 1 and 100000")))
}

pub struct Work<'w, 'm> {
    pub host: Host,
    pub target: &'w Target<'w>,
    pub manifest: &'w Manifest,
    pub plan: &'w Plan,
    pub sizes: &'w Sizes,
    pub models: &'w [Loaded<'m>],
}

impl<'m> Work<'_, 'm> {
    /// Runs every part that a token depends on at the cell's own axes, and holds it against the reference.
    ///
    /// Keep the requests until the benchmark ends: the host runs them once more after the last round, on inputs that nobody has seen.
    ///
    /// # Errors
    /// `WrongOutput` of the first that differs, and whatever the backend says.
    pub fn verified(&self) -> Result<Vec<Request<'m>>> {
        let one = |(_, model): &Loaded<'m>| {
            let mut request = model.request()?;
            self.target.prepare(model, &mut request, 0)?;
            request.run()?;
            self.target.verify(model, &mut request)?;
            Ok(request)
        };
        self.models.iter().map(one).collect()
    }

    /// A sequence for the batch of the cell. `stream`: which of the seed's streams its prompts come from.
    ///
    /// # Errors
    /// `InvalidArgument` for a port that is not there, and whatever backend and host say.
    pub fn sequence(&self, keeper: Keeper, stream: u64) -> Result<Sequence<'m>> {
        let Work { host, target, manifest, plan, sizes, models } = self;
        let model = loaded(models, &plan.decoder)?;
        let decoder = Decoder::new(target, model, manifest, plan, sizes, keeper)?;
        let parts = Parts::new(target, plan, models, &decoder)?;
        Sequence::new(*host, decoder, parts, sizes.batch, plan.one_token, self.prompts(stream, sizes.batch))
    }

    /// Room for as many sequences side by side as the cell's batch has.
    ///
    /// # Errors
    /// As for [`Slots::new`].
    pub fn slots(&self) -> Result<Slots<'m>> {
        let model = loaded(self.models, &self.plan.decoder)?;
        Slots::new(self.host, self.target, model, self.manifest, self.plan, self.sizes)
    }

    /// Prompts of as many sequences, each time others.
    pub fn prompts(&self, stream: u64, sequences: usize) -> Prompts {
        let (part, input) = self.plan.token_input();
        let rule = self.manifest.input(part, input).map(|input| input.fill.clone());
        let seed = self.target.seed() ^ stream.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        Prompts { rule, seed, count: sequences * self.sizes.fed, number: 0 }
    }

    /// How far results may be from each other.
    fn tolerance(&self) -> Result<f64> {
        let precision = loaded(self.models, &self.plan.decoder)?.placement()?.precision;
        Ok(self.manifest.tolerance(&self.plan.decoder, &precision))
    }

    /// Before anything is measured, and after: that the cache holds what it should, for a prompt of its own.
    ///
    /// # Errors
    /// `WrongOutput` with the difference.
    pub fn check(&self, sequence: &mut Sequence<'m>) -> Result<()> {
        let tolerance = self.tolerance()?;
        let steps = (self.sizes.new_tokens - 1).max(1);
        sequence.renew()?;
        let log = |text: String| self.host.log(Level::Info, &text);
        match (self.plan.one_token, sequence.decoder.keeper) {
            _ if !sequence.decoder.has_state() => log("no state is carried from token to token".into()),
            (false, _) => {
                let apart = check::against_reading(sequence, steps, tolerance)?;
                log(format!("after {steps} steps with the cache the logits are {apart:.1e} from those without it"));
            }
            (true, Keeper::Backend) => {
                let mut by_host = self.sequence(Keeper::Host, 0)?;
                by_host.prompt.clone_from(&sequence.prompt);
                let apart = check::against_host(sequence, &mut by_host, steps, tolerance)?;
                log(format!(
                    "after {steps} steps the backend's state gives logits {apart:.1e} from those of its outputs"
                ));
            }
            (true, Keeper::Host) => {
                log("one token at a time, on outputs as they are: nothing to hold the cache against".into())
            }
        }
        Ok(())
    }

    /// Whether sequences that were timed can be held against a run over all their tokens: what comes before those is gone by then.
    fn can_read_again(&self) -> bool {
        self.plan.before.is_empty() && self.plan.image.is_none() && !self.plan.state.is_empty()
    }

    /// That those kept of the sequences which were timed have the tokens that a run over all before them says.
    ///
    /// # Errors
    /// `WrongOutput` with the token.
    pub fn check_sampled(&self, sampled: &mut Sampled, sequence: &mut Sequence<'m>, again: &mut Again) -> Result<()> {
        if !self.can_read_again() {
            return Ok(());
        }
        let batch = sequence.batch;
        sampled.check(self.tolerance()?, again, |all| of_rows(&sequence.read(all)?, batch))
    }

    /// The same of sequences that lay side by side, each on its own.
    ///
    /// # Errors
    /// As for [`Work::check_sampled`].
    pub fn check_sampled_side_by_side(
        &self,
        sampled: &mut Sampled,
        slots: &mut Slots<'m>,
        again: &mut Again,
    ) -> Result<()> {
        // As far as each may be from itself alone, and that from a run over all.
        sampled.check(2.0 * self.tolerance()?, again, |all| {
            slots.clear();
            slots.begin(0, all).map(|logits| vec![logits])
        })
    }

    /// That sequences side by side are what each is alone. `prompts`: of one sequence each, and others than before.
    ///
    /// # Errors
    /// `WrongOutput` with the difference.
    pub fn check_side_by_side(&self, slots: &mut Slots<'m>, prompts: &mut Prompts) -> Result<()> {
        let SideBySide { apart, most } = check::side_by_side(slots, prompts, self.sizes, self.tolerance()?)?;
        let text = format!("up to {most} sequences side by side give logits {apart:.1e} from those of each alone");
        self.host.log(Level::Info, &text);
        Ok(())
    }
}

/// The newest logits of each sequence.
fn of_rows(logits: &Output, batch: usize) -> Result<Vec<Vec<f32>>> {
    Ok(rows(logits, batch, 0)?.into_iter().map(|row| row.into_owned()).collect())
}
