//! What ONNX Runtime makes of points where to quantize: the kernels of its optimized graph. A graph with points only allows integers; for
//! some patterns and types there are kernels that multiply integers, and for others data is turned back to float32 first.
//!
//! Read from a second session, made when somebody asks: what is timed, and the memory of what is measured, has nothing of it. It touches
//! no weights (none are packed for kernels, and those in a file beside the graph stay there), and is thrown away.

use crate::products::Products;
use crate::provider::Provider;
use crate::runtime::Runtime;
use crate::session::Recipe;
use crate::settings::Settings;
use skillbench_plugin_api::Load;
use std::sync::Arc;

/// A load whose kernels nobody has looked at.
pub(crate) struct Unread {
    pub runtime: &'static Runtime,
    pub provider: Arc<dyn Provider>,
    pub listed: usize,
    pub settings: Settings,
    pub load: Load,
    pub graph: Vec<u8>,
}

impl Unread {
    /// The precision of the products that are computed: float32 where none multiplies integers, int8 or int4 where more than half do.
    /// `None`: some do, or the graph cannot be read back.
    pub fn precision(&self) -> Option<&'static str> {
        let scratch = tempfile::tempdir().ok()?;
        let written = scratch.path().join("optimized.onnx");
        let device = self.provider.devices(&[]).into_iter().next().map(|(_, device)| device);
        let device = device.unwrap_or_else(skillbench_plugin_api::sdk::processor);
        let recipe = Recipe {
            runtime: self.runtime,
            provider: &*self.provider,
            listed: self.listed,
            settings: &self.settings,
            load: &self.load,
            configuration: self.provider.configure(&self.load, &device).ok()?,
            profile: None,
        };
        recipe.write_optimized(&self.graph, &written).ok()?;
        precision(&Products::of(&std::fs::read(&written).ok()?))
    }
}

fn precision(products: &Products) -> Option<&'static str> {
    let most = |count: usize| count * 2 > products.all;
    match products {
        Products { all: 0, .. } => None,
        Products { integer, .. } if most(*integer) => Some("int8"),
        // What is asked to compute in float32 only reads its weights in less.
        Products { integer: 0, int4, narrow, in_float32, .. } if int4 + narrow == *in_float32 => Some("float32"),
        Products { int4, .. } if most(*int4) => Some("int4"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_half_of_the_products_decide_and_a_mixture_has_no_name() {
        let of =
            |all, integer, int4, narrow| precision(&Products { all, integer, int4, narrow, ..Products::default() });
        assert_eq!(of(17, 13, 0, 0), Some("int8"));
        assert_eq!(of(17, 0, 0, 0), Some("float32"));
        assert_eq!(of(17, 8, 0, 0), None);
        assert_eq!(of(17, 0, 13, 0), Some("int4"));
        assert_eq!(of(17, 0, 0, 1), None, "weights in 8 bits, and what their products compute in cannot be told");
        let stored = Products { all: 17, narrow: 13, in_float32: 13, ..Products::default() };
        assert_eq!(precision(&stored), Some("float32"));
        assert_eq!(of(0, 0, 0, 0), None);
    }
}
