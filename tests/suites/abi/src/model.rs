//! A signature as data: types, their layout by the C rules (guide §1.1, §1.2), and which functions are made of it.

/// A scalar of both languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// `u8`
    U8,
    /// `u16`
    U16,
    /// `u32`
    U32,
    /// `u64`
    U64,
    /// `usize`
    Usize,
    /// `i8`
    I8,
    /// `i16`
    I16,
    /// `i32`
    I32,
    /// `i64`
    I64,
    /// `isize`
    Isize,
    /// `bool`
    Bool,
    /// `char`
    Char,
    /// `f32`
    F32,
    /// `f64`
    F64,
    /// `u128`
    U128,
    /// `i128`
    I128,
}

use Scalar::*;

impl Scalar {
    /// All of them.
    pub const ALL: [Self; 16] = [U8, U16, U32, U64, Usize, I8, I16, I32, I64, Isize, Bool, Char, F32, F64, U128, I128];
    /// Those that an enum may be stored in.
    pub const REPRS: [Self; 10] = [U8, U16, U32, U64, Usize, I8, I16, I32, I64, Isize];

    /// In Rust.
    pub fn rust(self) -> &'static str {
        match self {
            U8 => "u8",
            U16 => "u16",
            U32 => "u32",
            U64 => "u64",
            Usize => "usize",
            I8 => "i8",
            I16 => "i16",
            I32 => "i32",
            I64 => "i64",
            Isize => "isize",
            Bool => "bool",
            Char => "char",
            F32 => "f32",
            F64 => "f64",
            U128 => "u128",
            I128 => "i128",
        }
    }

    /// In C++, on a 64-bit Linux host.
    pub fn cxx(self) -> &'static str {
        match self {
            U8 => "unsigned char",
            U16 => "unsigned short",
            U32 => "unsigned int",
            U64 | Usize => "unsigned long",
            I8 => "signed char",
            I16 => "short",
            I32 => "int",
            I64 | Isize => "long",
            Bool => "bool",
            Char => "char32_t",
            F32 => "float",
            F64 => "double",
            U128 => "unsigned __int128",
            I128 => "__int128",
        }
    }

    /// In bytes; also its alignment.
    pub fn size(self) -> u64 {
        match self {
            U8 | I8 | Bool => 1,
            U16 | I16 => 2,
            U32 | I32 | Char | F32 => 4,
            U64 | Usize | I64 | Isize | F64 => 8,
            U128 | I128 => 16,
        }
    }

    /// Whether it is an integer that is passed as 32 bits and has fewer, and its sign.
    pub fn extended(self) -> Option<bool> {
        match self {
            U8 | U16 | Bool => Some(false),
            I8 | I16 => Some(true),
            _ => None,
        }
    }

    /// Whether it is a signed integer.
    pub fn is_signed(self) -> bool {
        matches!(self, I8 | I16 | I32 | I64 | Isize | I128)
    }
}

/// A type that the runtime crates supply and CUDA's headers define, as `Float4`.
#[derive(Debug, PartialEq, Eq)]
pub struct Foreign {
    /// In Rust, as `ptx::vec::Float4`.
    pub rust: &'static str,
    /// In C++, as `float4`.
    pub cxx: &'static str,
    /// In bytes.
    pub size: u64,
    /// In bytes.
    pub align: u64,
    /// Passed as an integer of fewer than 32 bits, and its sign.
    pub extended: Option<bool>,
    /// Rust's type has an `align` of its own, so that it cannot stand in a packed struct.
    pub is_aligned: bool,
}

/// The type of a parameter, a result or a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    /// A number, a `bool` or a `char`.
    Scalar(Scalar),
    /// One of the runtime crates' types.
    Foreign(&'static Foreign),
    /// Definition number `def` of the case, with arguments if it is a template.
    Named {
        /// Its place in [`Case::defs`].
        def: usize,
        /// One for each of [`Def::generics`].
        args: Vec<Arg>,
    },
    /// A template's type parameter, in its fields.
    Param(usize),
    /// In fields and behind pointers.
    Array(Box<Self>, Len),
    /// `*const T` or `*mut T`
    Pointer {
        /// `T`
        to: Box<Self>,
        /// `*const`
        is_const: bool,
    },
    /// `extern "C" fn(A) -> R`
    Function {
        /// `A`
        params: Vec<Self>,
        /// `R`
        result: Option<Box<Self>>,
    },
    /// `c_void`, behind a pointer.
    Void,
    /// `&T` or `&mut T`, of parameters alone.
    Reference {
        /// `T`
        to: Box<Self>,
        /// `&mut`
        is_mut: bool,
    },
    /// `&[T]` or `&mut [T]`, of parameters alone.
    Slice {
        /// `T`
        of: Box<Self>,
        /// `&mut`
        is_mut: bool,
    },
}

/// The length of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Len {
    /// A literal: `[u8; 4]`.
    Fixed(u64),
    /// A template's parameter of type `usize`.
    Param(usize),
}

/// A template argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// For [`Generic::Type`].
    Type(Ty),
    /// For [`Generic::Value`].
    Value(i128),
}

/// A template parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Generic {
    /// `T`
    Type,
    /// `const N: usize`
    Value(Scalar),
}

/// A struct, union or enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Def {
    /// As in `a::b`, or empty.
    pub namespace: &'static str,
    /// What it is.
    pub body: Body,
    /// Of `repr(packed(N))`, or 0.
    pub packed: u64,
    /// Of `repr(align(N))`, or 0.
    pub align: u64,
    /// Of a class template.
    pub generics: Vec<Generic>,
}

/// What is in a [`Def`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Fields in a row.
    Struct(Vec<Ty>),
    /// Fields on top of each other.
    Union(Vec<Ty>),
    /// Named numbers.
    Enum(Scalar, Vec<i128>),
}

/// How the functions are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// `extern "C"`
    C,
    /// Mangled, in that namespace.
    Cxx(&'static str),
}

/// One signature and the types in it.
///
/// Four functions are made of it: `f` is Rust's, called from C++; `g` is C++'s, called from Rust; `k` is a kernel in both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Part of every name that the case defines.
    pub id: u32,
    /// Each refers to earlier ones only.
    pub defs: Vec<Def>,
    /// In order.
    pub params: Vec<Ty>,
    /// None for no result.
    pub result: Option<Ty>,
    /// Of all functions.
    pub linkage: Linkage,
}

/// Size and alignment in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// In bytes, as Rust has it: 0 for an empty struct.
    pub size: u64,
    /// In bytes.
    pub align: u64,
}

impl Case {
    /// The layout of a type in which no template parameter is left.
    pub fn layout(&self, ty: &Ty) -> Layout {
        let of = |size, align| Layout { size, align };
        match ty {
            Ty::Scalar(scalar) => of(scalar.size(), scalar.size()),
            Ty::Foreign(foreign) => of(foreign.size, foreign.align),
            Ty::Pointer { .. } | Ty::Function { .. } | Ty::Reference { .. } => of(8, 8),
            Ty::Slice { .. } => of(16, 8),
            Ty::Array(element, len) => {
                let element = self.layout(element);
                let Len::Fixed(len) = len else { unreachable!("substituted before") };
                of(element.size * len, element.align)
            }
            Ty::Named { def, args } => match &self.defs[*def].body {
                Body::Enum(repr, _) => of(repr.size(), repr.size()),
                Body::Struct(_) | Body::Union(_) => self.record(*def, args).0,
            },
            Ty::Param(_) | Ty::Void => unreachable!("it has no layout"),
        }
    }

    /// A record's layout, and its fields with their offsets.
    pub fn record(&self, def: usize, args: &[Arg]) -> (Layout, Vec<(Ty, u64)>) {
        let Def { body, packed, align, .. } = &self.defs[def];
        let (fields, is_union) = match body {
            Body::Struct(fields) => (fields, false),
            Body::Union(fields) => (fields, true),
            Body::Enum(..) => return (Layout { size: 0, align: 1 }, Vec::new()),
        };
        let (mut size, mut most) = (0_u64, (*align).max(1));
        let mut placed = Vec::new();
        for field in fields {
            let field = substitute(field, args);
            let layout = self.layout(&field);
            let field_align = if *packed > 0 { layout.align.min(*packed) } else { layout.align };
            let offset = if is_union { 0 } else { size.next_multiple_of(field_align) };
            size = size.max(offset + layout.size);
            most = most.max(field_align);
            placed.push((field, offset));
        }
        (Layout { size: size.next_multiple_of(most), align: most }, placed)
    }

    /// Rust refuses a packed struct with one in it that asks for an alignment.
    pub fn asks_for_alignment(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Foreign(foreign) => foreign.is_aligned,
            Ty::Array(element, _) => self.asks_for_alignment(element),
            Ty::Named { def, args } => {
                self.defs[*def].align > 0
                    || args.iter().any(|arg| matches!(arg, Arg::Type(ty) if self.asks_for_alignment(ty)))
                    || match &self.defs[*def].body {
                        Body::Struct(fields) | Body::Union(fields) => {
                            fields.iter().any(|field| self.asks_for_alignment(field))
                        }
                        Body::Enum(..) => false,
                    }
            }
            _ => false,
        }
    }

    /// An empty struct has another size in C++, so it cannot stand in other types.
    pub fn is_empty(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Named { def, .. } if matches!(&self.defs[*def].body, Body::Struct(fields) if fields.is_empty()))
    }

    /// Whether the type is passed as 32 bits and has fewer, and its sign.
    pub fn extended(&self, ty: &Ty) -> Option<(u64, bool)> {
        let sign = match ty {
            Ty::Scalar(scalar) => scalar.extended(),
            Ty::Foreign(foreign) => foreign.extended,
            Ty::Named { def, .. } => match self.defs[*def].body {
                Body::Enum(repr, _) => repr.extended(),
                _ => None,
            },
            _ => None,
        };
        sign.map(|sign| (self.layout(ty).size * 8, sign))
    }

    /// Whether nvcc passes such a value by stores that the hardware refuses: it stores a scalar of a packed struct, inside
    /// a struct that is not packed, whole, wherever it lies (see `compare::DEVIATIONS`).
    pub fn has_misaligned(&self, ty: &Ty) -> bool {
        let Ty::Named { def, args } = ty else { return false };
        let align = self.layout(ty).align;
        let is_packed = self.defs[*def].packed > 0;
        self.record(*def, args).1.iter().any(|(field, offset)| {
            let is_record = !matches!(field, Ty::Scalar(_));
            (is_record || !is_packed) && self.lies_badly(field, *offset, align)
        })
    }

    fn lies_badly(&self, ty: &Ty, at: u64, align: u64) -> bool {
        match ty {
            Ty::Array(element, _) => {
                let stride = self.layout(element).size.max(1);
                (0..self.layout(ty).size / stride).any(|index| self.lies_badly(element, at + index * stride, align))
            }
            Ty::Named { def, args } if !matches!(self.defs[*def].body, Body::Enum(..)) => {
                self.record(*def, args).1.iter().any(|(field, offset)| self.lies_badly(field, at + offset, align))
            }
            other => {
                let own = self.layout(other).align;
                own > align || !at.is_multiple_of(own)
            }
        }
    }

    /// Without the definitions that nothing names.
    pub fn tidied(mut self) -> Self {
        for index in (0..self.defs.len()).rev() {
            let used = |ty: &Ty| mentions(ty, index);
            let in_fields = self.defs.iter().any(|def| match &def.body {
                Body::Struct(fields) | Body::Union(fields) => fields.iter().any(used),
                Body::Enum(..) => false,
            });
            if in_fields || self.params.iter().any(used) || self.result.as_ref().is_some_and(used) {
                continue;
            }
            self.defs.remove(index);
            let mut all: Vec<&mut Ty> = self.params.iter_mut().chain(self.result.as_mut()).collect();
            for def in &mut self.defs {
                if let Body::Struct(fields) | Body::Union(fields) = &mut def.body {
                    all.extend(fields);
                }
            }
            all.into_iter().for_each(|ty| lower_indices(ty, index));
        }
        self
    }
}

/// The field's type in an instance of its template.
pub fn substitute(ty: &Ty, args: &[Arg]) -> Ty {
    let inner = |ty: &Ty| Box::new(substitute(ty, args));
    match ty {
        Ty::Param(index) => match &args[*index] {
            Arg::Type(ty) => ty.clone(),
            Arg::Value(_) => unreachable!("a type parameter has a type"),
        },
        Ty::Array(element, len) => Ty::Array(
            inner(element),
            Len::Fixed(match len {
                Len::Fixed(len) => *len,
                Len::Param(index) => match &args[*index] {
                    Arg::Value(value) => u64::try_from(*value).unwrap_or(0),
                    Arg::Type(_) => unreachable!("a length is a number"),
                },
            }),
        ),
        Ty::Pointer { to, is_const } => Ty::Pointer { to: inner(to), is_const: *is_const },
        Ty::Named { def, args: own } => {
            let one = |arg: &Arg| match arg {
                Arg::Type(ty) => Arg::Type(substitute(ty, args)),
                value => value.clone(),
            };
            Ty::Named { def: *def, args: own.iter().map(one).collect() }
        }
        other => other.clone(),
    }
}

fn children(ty: &Ty) -> Vec<&Ty> {
    match ty {
        Ty::Array(inner, _)
        | Ty::Pointer { to: inner, .. }
        | Ty::Reference { to: inner, .. }
        | Ty::Slice { of: inner, .. } => vec![inner],
        Ty::Function { params, result } => params.iter().chain(result.as_deref()).collect(),
        Ty::Named { args, .. } => {
            args.iter().filter_map(|arg| if let Arg::Type(ty) = arg { Some(ty) } else { None }).collect()
        }
        Ty::Scalar(_) | Ty::Foreign(_) | Ty::Param(_) | Ty::Void => Vec::new(),
    }
}

/// Whether the type names definition `index`.
pub fn mentions(ty: &Ty, index: usize) -> bool {
    matches!(ty, Ty::Named { def, .. } if *def == index) || children(ty).into_iter().any(|ty| mentions(ty, index))
}

fn lower_indices(ty: &mut Ty, removed: usize) {
    match ty {
        Ty::Array(inner, _)
        | Ty::Pointer { to: inner, .. }
        | Ty::Reference { to: inner, .. }
        | Ty::Slice { of: inner, .. } => lower_indices(inner, removed),
        Ty::Function { params, result } => {
            params.iter_mut().chain(result.as_deref_mut()).for_each(|ty| lower_indices(ty, removed));
        }
        Ty::Named { def, args } => {
            if *def > removed {
                *def -= 1;
            }
            for arg in args {
                if let Arg::Type(ty) = arg {
                    lower_indices(ty, removed);
                }
            }
        }
        Ty::Scalar(_) | Ty::Foreign(_) | Ty::Param(_) | Ty::Void => {}
    }
}
