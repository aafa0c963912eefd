//! The JSON Schema of `run.json`, made from the types that write it. `docs/run.schema.json` is its text, and a test holds both together.

use crate::catalog::{self, Better};
use crate::{OutcomeKind, RUN_SCHEMA, Run};
use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::{Value, json};

/// The schema, in draft 2020-12. `x-metrics` lists every metric of the catalogue with its unit, which way is better, and where it is in a
/// cell's `metrics`; a metric without such a place is worked out from others. That only a measured cell has figures is a rule of its
/// own, which types of a file that is flat cannot say.
pub fn run_schema() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<Run>();
    RecursiveTransform(closed).transform(&mut schema);
    let mut schema = Value::from(schema);
    schema["properties"]["schema"] = json!({"const": RUN_SCHEMA});
    schema["$defs"]["Cell"]["allOf"] = json!([{
        "if": {"properties": {"outcome": {"const": OutcomeKind::Measured.name()}}},
        "then": {"properties": {"reason": {"type": "null"}, "metrics": {"type": "object"}}},
        "else": {"properties": {"reason": {"type": "object"}, "metrics": {"type": "null"}, "stable": {"const": false}}},
    }]);
    schema["x-metrics"] = catalog::metrics().iter().map(metric).collect();
    schema
}

/// What has properties has no others: a slip in a name is found.
fn closed(schema: &mut Schema) {
    if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
        schema.insert("additionalProperties".into(), false.into());
    }
}

fn metric(metric: &catalog::Metric) -> Value {
    let better = match metric.better {
        Better::Lower => "lower",
        Better::Higher => "higher",
        Better::Neither => "neither",
    };
    let place = Some(metric.path).filter(|path| !path.is_empty());
    json!({"column": metric.id, "name": metric.name, "unit": metric.unit, "better": better, "path": place})
}
