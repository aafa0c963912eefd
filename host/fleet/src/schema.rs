//! The JSON Schema of the messages, made from the types that read and write them. `docs/fleet.schema.json` is its text, and a test holds
//! both together.
//!
//! It is what a reader takes: fields that it does not know are passed over, and those that older hosts do not write may be missing.

use crate::form::{Beat, JOB, Job, LOT_END, LotEnd, MACHINE, Machine, OUTCOME, Outcome, SUBMISSION, Submission};
use crate::offer::{OFFER, Offer};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

/// The schema of any message, in draft 2020-12. `$defs` has one for each kind of message, by the name of its type.
pub fn message_schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let kinds = [
        one_of_form::<Submission>(&mut generator, SUBMISSION),
        one_of_form::<Job>(&mut generator, JOB),
        one_of_form::<Outcome>(&mut generator, OUTCOME),
        one_of_form::<LotEnd>(&mut generator, LOT_END),
        one_of_form::<Machine>(&mut generator, MACHINE),
        one_of_form::<Offer>(&mut generator, OFFER),
        generator.subschema_for::<Beat>().into(),
    ];
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A message of a fleet, without its seal",
        "anyOf": kinds,
        "$defs": generator.take_definitions(true),
    })
}

fn one_of_form<T: JsonSchema>(generator: &mut SchemaGenerator, form: &str) -> Value {
    let mut schema = Value::from(generator.subschema_for::<T>());
    schema["properties"] = json!({"schema": {"const": form}});
    schema
}
