//! In which form the weights of a model are written. Each form holds the same numbers, as exactly as it can: weights are made in
//! float32 and rounded, so that graphs of two forms differ by that rounding alone.
//!
//! | form | weights | products |
//! |---|---|---|
//! | float32 | float32 | float32 |
//! | float16-stored, bfloat16-stored | tables and weights of layers in 16 bits, the rest in float32 | float32, behind a cast of each weight |
//! | int4 | blocks of 32 in 4 bits with a scale each; tables and other weights in float16 | `MatMulNBits` of ONNX Runtime's operators |
//! | int4-stored | as int4 | float32, behind a `DequantizeLinear` of each weight |
//! | int8 | those of layers in 8 bits with a scale for each output channel; tables and other weights in float16 | of integers, where the engine has such: data is quantized to 8 bits before a layer, and behind a convolution |
//! | int8-stored | as int8 | float32, behind a `DequantizeLinear` of each weight |

use skillbench_plugin_api::{Error, Options, Result};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    #[default]
    Float32,
    Float16Stored,
    BFloat16Stored,
    Int4,
    Int4Stored,
    Int8,
    Int8Stored,
}

impl Form {
    const ALL: [Form; 7] = [
        Form::Float32,
        Form::Float16Stored,
        Form::BFloat16Stored,
        Form::Int8,
        Form::Int8Stored,
        Form::Int4,
        Form::Int4Stored,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Form::Float32 => "float32",
            Form::Float16Stored => "float16-stored",
            Form::BFloat16Stored => "bfloat16-stored",
            Form::Int4 => "int4",
            Form::Int4Stored => "int4-stored",
            Form::Int8 => "int8",
            Form::Int8Stored => "int8-stored",
        }
    }

    /// The forms besides float32.
    pub fn narrower() -> impl Iterator<Item = Form> {
        Form::ALL.into_iter().filter(|form| *form != Form::Float32)
    }

    /// Whether layers are weights in 8 bits.
    pub fn is_int8(self) -> bool {
        matches!(self, Form::Int8 | Form::Int8Stored)
    }

    /// The form that the option `precision` of a build asks for.
    ///
    /// # Errors
    /// `InvalidArgument` for one that there is not.
    pub fn asked(options: &Options) -> Result<Form> {
        let Some(asked) = options.get("precision") else { return Ok(Form::Float32) };
        Form::ALL.into_iter().find(|form| form.name() == asked).ok_or_else(|| {
            let all: Vec<&str> = Form::ALL.iter().map(|form| form.name()).collect();
            Error::invalid(format!("the zoo writes no weights in '{asked}'; it has {}", all.join(", ")))
        })
    }
}
