//! The parts of the skill: one graph each, that does one kind of work and little else.

/// What the arithmetic of a chain of products is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Float32,
    Float16,
    /// `MatMulInteger`: products of integers whatever the engine.
    Int8,
    /// Floats between the points where to quantize them. Some engines multiply integers only in this form.
    Qdq,
}

impl Form {
    pub const ALL: [Form; 4] = [Form::Float32, Form::Float16, Form::Int8, Form::Qdq];

    pub fn name(self) -> &'static str {
        match self {
            Form::Float32 => "float32",
            Form::Float16 => "float16",
            Form::Int8 => "int8",
            Form::Qdq => "qdq",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Square matrices of this size, multiplied one after the other.
    Products { form: Form, size: u64 },
    /// A large tensor, read and written once. Its input and output are the caller's, so on a device with memory of its own
    /// this is mostly the way there and back.
    Copy,
    /// A vector times a large constant matrix, and the result times it again, so many times: every weight is read each time, from the
    /// device's own memory.
    Read { passes: u64 },
}

/// Smallest first: where one takes long, those after it are left out.
pub const SIZES: [u64; 5] = [256, 512, 1024, 2048, 4096];

/// Rows and columns of the tensor that is copied: 64 MiB of float32.
pub const COPIED: [u64; 2] = [4096, 4096];

/// Rows and columns of the matrix that is read: 128 MiB of float32, more than most caches hold.
pub const READ: [u64; 2] = [8192, 4096];

/// The matrix is read once, and where that is over too soon to tell more than how long it takes to begin, so many times in one run.
pub const PASSES: [u64; 2] = [1, 16];

impl Part {
    pub fn all() -> Vec<Part> {
        let products = Form::ALL.into_iter().flat_map(|form| SIZES.map(|size| Part::Products { form, size }));
        products.chain([Part::Copy]).chain(PASSES.map(|passes| Part::Read { passes })).collect()
    }

    /// The part's name, and that of its graph's file.
    pub fn name(self) -> String {
        match self {
            Part::Products { form, size } => format!("matmul-{}-{size}", form.name()),
            Part::Copy => "copy-64MiB".into(),
            Part::Read { passes: 1 } => "read-128MiB".into(),
            Part::Read { passes } => format!("read-128MiB-{passes}-times"),
        }
    }

    /// The name of its series. It is that of the graph; which precision ran is in the peak's name.
    pub fn series(self) -> String {
        self.name().replace('-', ".")
    }

    /// The input's name. The host finds an input's rule by it, so parts whose inputs differ have other names.
    pub fn input(self) -> String {
        match self {
            Part::Products { size, .. } => format!("x{size}"),
            Part::Copy => "copied".into(),
            Part::Read { .. } => "x".into(),
        }
    }

    pub fn input_shape(self) -> [u64; 2] {
        match self {
            Part::Products { size, .. } => [1, size],
            Part::Copy => COPIED,
            Part::Read { .. } => [1, READ[0]],
        }
    }

    pub fn output_shape(self) -> [u64; 2] {
        match self {
            Part::Products { size, .. } => [1, size],
            Part::Copy => COPIED,
            Part::Read { .. } => [1, READ[1]],
        }
    }

    /// How often a chain multiplies: often enough that what surrounds the products costs little beside them, and the less
    /// often the larger each is.
    pub fn layers(self) -> u64 {
        match self {
            Part::Products { size: ..512, .. } => 8,
            Part::Products { size: 512..4096, .. } => 4,
            Part::Products { .. } => 2,
            Part::Copy | Part::Read { .. } => 0,
        }
    }

    /// Operations of one run of the products alone (a multiplication and an addition are two), or bytes that it has to move.
    pub fn items(self) -> u64 {
        let bytes = |[rows, columns]: [u64; 2]| rows * columns * size_of::<f32>() as u64;
        match self {
            Part::Products { size, .. } => 2 * size.pow(3) * self.layers(),
            Part::Copy => 2 * bytes(COPIED),
            Part::Read { passes } => passes * bytes(READ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_say_what_a_part_does() {
        let names: std::collections::BTreeSet<String> = Part::all().into_iter().map(Part::name).collect();
        assert_eq!(names.len(), Part::all().len());
        assert_eq!(Part::Products { form: Form::Float16, size: 1024 }.series(), "matmul.float16.1024");
        assert_eq!(Part::Copy.series(), "copy.64MiB");
    }

    #[test]
    fn the_work_is_that_of_the_graph() {
        assert_eq!(Part::Products { form: Form::Int8, size: 512 }.items(), 4 * 2 * 512 * 512 * 512);
        assert_eq!(Part::Copy.items(), 128 << 20);
        assert_eq!(PASSES.map(|passes| Part::Read { passes }.items()), [128 << 20, 16 * (128 << 20)]);
    }
}
