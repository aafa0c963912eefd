//! Dimensions of inputs from the cell's axes.

use super::manifest::{DimRule, Manifest};
use skillbench_plugin_api::Port;
use skillbench_record::Axes;

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

/// The axes that reach no dimension of these inputs: work that was asked for and would not be done. An axis of 1 that the graph
/// does not have is no work.
pub fn unreached<'a>(inputs: &[Port], manifest: &Manifest, axes: &'a Axes) -> Vec<&'a str> {
    let reaches = |port: &Port, axis: &str, value: i64| match manifest.input(&port.name) {
        Some(rule) => rule.dims.iter().any(|dim| match dim {
            DimRule::Fixed(_) => false,
            DimRule::Of(text) => text.split(['+', '*']).any(|name| name.trim() == axis),
        }),
        None => port.shape.iter().enumerate().any(|(index, fixed)| {
            let name = port.dim_names.get(index).and_then(Option::as_deref).unwrap_or("");
            match fixed {
                // Fixed at just this value: by the graph, or by a backend that compiles for the dimensions it is given.
                Some(fixed) => *fixed as i64 == value && (axis != "batch" || index == 0),
                None => {
                    name == axis || standard_axis(name) == axis || (name.is_empty() && index == 0 && axis == "batch")
                }
            }
        }),
    };
    let lost =
        |(axis, value): &(&'a String, &'a i64)| **value != 1 && !inputs.iter().any(|port| reaches(port, axis, **value));
    axes.iter().filter(lost).map(|(axis, _)| axis.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_that_a_fixed_graph_cannot_take_is_told() {
        let port = |first: Option<usize>| Port {
            name: "x".into(),
            dtype: skillbench_plugin_api::DType::F32,
            shape: vec![first, Some(64)],
            dim_names: vec![first.is_none().then(|| "N".to_string()), None],
        };
        let four = Axes::from([("batch".into(), 4)]);
        assert_eq!(unreached(&[port(Some(1))], &Manifest::default(), &four), ["batch"]);
        assert!(unreached(&[port(None)], &Manifest::default(), &four).is_empty());
        assert!(unreached(&[port(Some(4))], &Manifest::default(), &four).is_empty());
        assert!(unreached(&[port(Some(1))], &Manifest::default(), &Axes::from([("batch".into(), 1)])).is_empty());
    }

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
