//! Inputs of a request: made by the skill's rules, and made anew where they lie.

use skillbench_models::{DimRule, InputRule, Manifest, Renewal};
use skillbench_plugin_api::client::{Model, Request};
use skillbench_plugin_api::{Direction, Error, HostTensor, Result};
use skillbench_record::Axes;

/// An input that was filled, and by which rule.
pub(super) struct Filled {
    pub index: u32,
    pub rule: InputRule,
}

/// Makes one input by the skill's rule, or by its name and type where there is none.
///
/// # Errors
/// A dimension that the axes do not give, a rule that does not fit, no memory.
pub(super) fn make(
    model: &Model<'_>,
    index: u32,
    manifest: &Manifest,
    axes: &Axes,
    seed: u64,
    variant: u64,
) -> Result<(HostTensor, Filled)> {
    let port = &model.inputs()[index as usize];
    let shape = skillbench_models::resolve_port(port, manifest, axes).map_err(Error::invalid)?;
    let by_default = || InputRule {
        part: String::new(),
        name: port.name.clone(),
        dtype: port.dtype.name().into(),
        dims: Vec::<DimRule>::new(),
        fill: skillbench_models::default_rule(port),
    };
    let rule = manifest.input(&port.name).cloned().unwrap_or_else(by_default);
    let mut tensor = HostTensor::zeroed(port.dtype, &shape)?;
    skillbench_models::fill(&mut tensor, &rule, axes, seed, variant).map_err(Error::invalid)?;
    Ok((tensor, Filled { index, rule }))
}

/// How each input of a request gets other contents; those that their rules leave no choice for are not among them.
///
/// # Errors
/// As for [`Renewal::new`].
pub(super) fn renewals(
    request: &Request<'_>,
    filled: &[Filled],
    axes: &Axes,
    seed: u64,
) -> Result<Vec<(u32, Renewal)>> {
    let mut renewals = vec![];
    for input in filled {
        if let Some(tensor) = request.bound(Direction::Input, input.index)
            && let Some(renewal) = Renewal::new(tensor, &input.rule, axes, seed)?
        {
            renewals.push((input.index, renewal));
        }
    }
    Ok(renewals)
}

/// Gives a request the contents that `variant` stands for, and binds them.
///
/// # Errors
/// Whatever the backend says.
pub(super) fn renew(request: &mut Request<'_>, renewals: &[(u32, Renewal)], variant: u64) -> Result<()> {
    renewals.iter().try_for_each(|(index, renewal)| request.rewrite(*index, |tensor| renewal.write(tensor, variant)))
}
