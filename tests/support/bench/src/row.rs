//! A row of the table: a kernel, its twin, its launch.

use crate::compare::Tolerance;
use crate::data::Data;

/// A kernel in Rust and in CUDA C++, and how both are launched.
#[derive(Debug)]
pub struct Row {
    /// The Rust kernel.
    pub name: &'static str,
    /// The kernel in CUDA C++.
    pub twin: &'static str,
    /// What kind of program it comes from.
    pub field: &'static str,
    /// How the Rust kernel is written.
    pub style: Style,
    /// Blocks of the grid in each dimension.
    pub blocks: (u32, u32, u32),
    /// Threads of a block in each dimension.
    pub threads: (u32, u32, u32),
    /// What one launch does.
    pub work: Work,
    /// When the results of both are equal.
    pub tolerance: Tolerance,
    /// Makes the arguments.
    pub arguments: fn() -> Vec<Argument>,
}

/// How a Rust kernel is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Slices, iterators and the runtime's types.
    Safe,
    /// Raw pointers.
    Raw,
}

/// What one launch does; 0 where that says nothing about the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Bytes that must be read and written, each once.
    pub bytes: f64,
    /// Operations of single precision; a fused one is two.
    pub flops: f64,
    /// Operations of double precision.
    pub flops_f64: f64,
}

/// What a kernel does with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It only reads.
    Input,
    /// It writes; what was there does not matter.
    Output,
    /// It reads and writes.
    Update,
}

/// An argument for both kernels.
#[derive(Clone, Debug)]
pub enum Argument {
    /// A scalar: its type in Rust, and its bytes.
    Value(&'static str, Vec<u8>),
    /// A slice, which is an address and a number of elements, each of so many numbers.
    Slice {
        /// The numbers before the launch.
        data: Data,
        /// Numbers of an element.
        lanes: usize,
        /// What the kernel does with it.
        role: Role,
        /// Elements in a row, if the kernel takes a plane: width and height stand where the length would.
        columns: Option<usize>,
    },
}

impl Argument {
    /// The same slice with elements of so many numbers.
    pub(crate) fn by(mut self, numbers: usize) -> Self {
        if let Self::Slice { lanes, .. } = &mut self {
            *lanes = numbers;
        }
        self
    }

    /// The same slice as a plane.
    pub(crate) fn plane(mut self, width: usize) -> Self {
        if let Self::Slice { columns, .. } = &mut self {
            *columns = Some(width);
        }
        self
    }
}

/// A scalar that is passed by value.
pub(crate) fn value<T: Scalar>(value: T) -> Argument {
    Argument::Value(T::NAME, value.bytes())
}

/// A slice that is read.
pub(crate) fn input(data: impl Into<Data>) -> Argument {
    Argument::Slice { data: data.into(), lanes: 1, role: Role::Input, columns: None }
}

/// A slice of `n` numbers that is written.
pub(crate) fn output<T: Default + Clone>(n: usize) -> Argument
where
    Vec<T>: Into<Data>,
{
    let zeros: Data = vec![T::default(); n].into();
    Argument::Slice { data: zeros.unwritten(), lanes: 1, role: Role::Output, columns: None }
}

/// A slice that is read and written.
pub(crate) fn update(data: impl Into<Data>) -> Argument {
    Argument::Slice { data: data.into(), lanes: 1, role: Role::Update, columns: None }
}

/// Scalar parameters of the kernels.
pub(crate) trait Scalar {
    const NAME: &'static str;
    fn bytes(self) -> Vec<u8>;
}

macro_rules! scalars {
    ($($ty:ident)*) => {$(
        impl Scalar for $ty {
            const NAME: &'static str = stringify!($ty);
            fn bytes(self) -> Vec<u8> {
                self.to_ne_bytes().to_vec()
            }
        }
    )*};
}
scalars!(u32 u64 usize f32 f64);

/// A row that is not finished: exact, one block of one thread, no arguments.
pub(crate) fn row(field: &'static str, name: &'static str) -> Row {
    Row {
        name,
        twin: name,
        field,
        style: Style::Safe,
        blocks: (1, 1, 1),
        threads: (1, 1, 1),
        work: Work::default(),
        tolerance: Tolerance::EXACT,
        arguments: Vec::new,
    }
}

impl Row {
    /// Enough blocks of `threads` threads for `n` elements.
    pub(crate) fn cover(self, n: usize, threads: u32) -> Self {
        self.blocks(n.div_ceil(threads as usize) as u32, threads)
    }

    /// So many blocks of `threads` threads.
    pub(crate) fn blocks(self, blocks: u32, threads: u32) -> Self {
        Self { blocks: (blocks, 1, 1), threads: (threads, 1, 1), ..self }
    }

    /// Enough blocks of `x` by `y` threads for `width` by `height` elements, so many elements a thread in a column.
    pub(crate) fn cover_2d(self, (width, height): (usize, usize), (x, y): (u32, u32), a_thread: usize) -> Self {
        let blocks = (width.div_ceil(x as usize) as u32, height.div_ceil(y as usize * a_thread) as u32, 1);
        Self { blocks, threads: (x, y, 1), ..self }
    }

    /// It must move so many bytes.
    pub(crate) fn moves(mut self, bytes: usize) -> Self {
        self.work.bytes = bytes as f64;
        self
    }

    /// It computes so much in single precision.
    pub(crate) fn flops(mut self, operations: usize) -> Self {
        self.work.flops = operations as f64;
        self
    }

    /// It computes so much in double precision.
    pub(crate) fn flops_f64(mut self, operations: usize) -> Self {
        self.work.flops_f64 = operations as f64;
        self
    }

    /// Results may differ by rounding.
    pub(crate) fn within(mut self, relative: f64) -> Self {
        self.tolerance.relative = relative;
        self
    }

    /// So large a part of the results may differ by more.
    pub(crate) fn but_for(mut self, outliers: f64) -> Self {
        self.tolerance.outliers = outliers;
        self
    }

    /// What it is launched with.
    pub(crate) fn takes(mut self, arguments: fn() -> Vec<Argument>) -> Self {
        self.arguments = arguments;
        self
    }

    /// The same launch of a kernel whose shared memory is a parameter.
    pub(crate) fn shared(&self, name: &'static str) -> Self {
        Self { name, field: "shared memory", ..*self }
    }

    /// The same launch of a kernel with raw pointers.
    pub(crate) fn raw(&self, name: &'static str) -> Self {
        Self { name, style: Style::Raw, field: "raw pointers", ..*self }
    }
}
