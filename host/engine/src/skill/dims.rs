//! Dimensions of inputs from the cell's axes.

use super::manifest::{DimRule, Manifest};
use crate::document::Axes;
use skillbench_plugin_api::Port;

/// The value of a dimension: a number, an axis, or sums and products of them.
///
/// # Errors
/// The part that is neither a number nor one of the axes.
pub fn evaluate(rule: &DimRule, axes: &Axes) -> Result<i64, String> {
    let text = match rule {
        DimRule::Fixed(value) => return Ok(*value),
        DimRule::Of(text) => text,
    };
    let atom = |name: &str| {
        let name = name.trim();
        let value = name.parse().ok().or_else(|| axes.get(name).copied());
        value.ok_or_else(|| format!("dimension '{name}' has no value; give one with --dim {name}=N"))
    };
    let product =
        |term: &str| term.split('*').map(atom).try_fold(1i64, |all, one| Ok::<_, String>(all.saturating_mul(one?)));
    text.split('+').map(product).try_fold(0i64, |all, one| Ok(all.saturating_add(one?)))
}

/// The axis that a dimension's usual names stand for: exporters do not agree on one.
pub fn standard_axis(name: &str) -> &str {
    match name.to_lowercase().as_str() {
        "batch" | "batch_size" | "n" | "b" | "bs" => "batch",
        "sequence" | "sequence_length" | "seq_len" | "seq_length" | "seq" | "max_seq_len" => "sequence",
        _ => name,
    }
}

/// The shape of a port for these axes: by the skill's rule, else by the port's own dimension names.
///
/// # Errors
/// A dimension that nothing gives a value to, naming the port.
pub fn resolve_port(port: &Port, manifest: &Manifest, axes: &Axes) -> Result<Vec<usize>, String> {
    let of_port = |text: String| format!("input '{}': {text}", port.name);
    let positive = |value: i64| usize::try_from(value).map_err(|_| of_port(format!("a dimension of {value}")));
    if let Some(rule) = manifest.input(&port.name) {
        return rule.dims.iter().map(|dim| evaluate(dim, axes).map_err(of_port).and_then(positive)).collect();
    }
    let one = |(index, fixed): (usize, &Option<usize>)| {
        if let Some(fixed) = fixed {
            return Ok(*fixed);
        }
        let name = port.dim_names.get(index).and_then(Option::as_deref).unwrap_or("");
        // A dimension of its own name first; without any name, the first one is the batch by custom.
        let known = axes.get(name).or_else(|| axes.get(standard_axis(name)));
        match (known, name, index) {
            (Some(value), ..) => positive(*value),
            (None, "", 0) => positive(axes.get("batch").copied().unwrap_or(1)),
            (None, "", _) => {
                Err(of_port(format!("dimension {index} is dynamic and has no name, so no value can be given to it")))
            }
            (None, name, _) => evaluate(&DimRule::Of(name.into()), axes).map_err(of_port).and_then(positive),
        }
    };
    port.shape.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_add_and_multiply() {
        let axes = Axes::from([("past".into(), 3), ("sequence".into(), 4), ("batch".into(), 2)]);
        let value = |text: &str| evaluate(&DimRule::Of(text.into()), &axes);
        assert_eq!(value("past+sequence"), Ok(7));
        assert_eq!(value("batch*5"), Ok(10));
        assert_eq!(value("2*batch + past"), Ok(7));
        assert!(value("width").unwrap_err().contains("--dim width=N"));
    }
}
