//! C++ types by name: what Itanium mangling and a C++ header need to know, as constants.
//!
//! They only name. What a record holds is in [`Definition`], apart from the name, so that a type may point to itself.

/// A C++ type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cxx<'a> {
    /// `int`, `float`, `void`, …
    Builtin(Builtin),
    /// A struct, union or enum.
    Named(Name<'a>),
    /// `T*`
    Pointer(&'a Self),
    /// `T&`
    Reference(&'a Self),
    /// `const T`
    Const(&'a Self),
    /// `T* __restrict__`; only a pointer can be so qualified.
    Restrict(&'a Self),
    /// `volatile T`
    Volatile(&'a Self),
    /// `T[N]`
    Array {
        /// `T`
        element: &'a Self,
        /// `N`
        len: u64,
    },
    /// `R(A, B)`; a function pointer is a pointer to it.
    Function {
        /// `R`
        result: &'a Self,
        /// `A, B`
        params: &'a [Self],
    },
    /// The template parameter of that index, in the signature of a function template.
    Parameter(u32),
}

/// The name of a struct, union or enum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    /// What it is.
    pub keyword: Keyword,
    /// As in `a::b`; empty at the top.
    pub namespace: &'a str,
    /// The name itself.
    pub name: &'a str,
    /// Of a class template's instance.
    pub arguments: &'a [Argument<'a>],
    /// The CUDA header that defines it, as `cuda_fp16.h`; empty if the header that we write has to.
    pub header: &'a str,
}

/// What a named type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Keyword {
    /// `struct`
    Struct = 0,
    /// `union`
    Union = 1,
    /// `enum class`
    Enum = 2,
}

/// A template argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument<'a> {
    /// An argument that is a type.
    Type(&'a Cxx<'a>),
    /// An integer, `bool` or character.
    Value {
        /// The parameter's type.
        ty: Builtin,
        /// The argument's value.
        value: i128,
    },
}

macro_rules! builtins {
    ($($variant:ident = $number:literal, $code:literal, $spelling:literal;)*) => {
        /// C++'s own types, with their codes in the Itanium ABI ("5.1.5.2 Builtin types").
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Builtin {
            $(#[doc = concat!("`", $spelling, "`")] $variant = $number,)*
        }

        impl Builtin {
            /// The type of that number.
            pub const fn from_number(number: u8) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Its letters in a mangled name.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// As C++ writes it.
            pub const fn spelling(self) -> &'static str {
                match self { $(Self::$variant => $spelling,)* }
            }
        }
    };
}

builtins! {
    Void = 0, "v", "void";
    Bool = 1, "b", "bool";
    Char = 2, "c", "char";
    SignedChar = 3, "a", "signed char";
    UnsignedChar = 4, "h", "unsigned char";
    Short = 5, "s", "short";
    UnsignedShort = 6, "t", "unsigned short";
    Int = 7, "i", "int";
    UnsignedInt = 8, "j", "unsigned int";
    Long = 9, "l", "long";
    UnsignedLong = 10, "m", "unsigned long";
    LongLong = 11, "x", "long long";
    UnsignedLongLong = 12, "y", "unsigned long long";
    Int128 = 13, "n", "__int128";
    UnsignedInt128 = 14, "o", "unsigned __int128";
    Float = 15, "f", "float";
    Double = 16, "d", "double";
    WChar = 17, "w", "wchar_t";
    Char8 = 18, "Du", "char8_t";
    Char16 = 19, "Ds", "char16_t";
    Char32 = 20, "Di", "char32_t";
    NullPointer = 21, "Dn", "decltype(nullptr)";
}

/// What a named type holds, for the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition<'a> {
    /// The type; a builtin or a pointer has nothing to define.
    pub cxx: Cxx<'a>,
    /// In bytes, as C++ has it: 1 for an empty struct.
    pub size: u64,
    /// In bytes.
    pub align: u64,
    /// What is in it.
    pub body: Body<'a>,
}

/// What is in a named type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// Nothing to say: a builtin, a type of CUDA's headers, or one that is only pointed to.
    Opaque,
    /// A struct or union.
    Record {
        /// In order of declaration, padding left out.
        fields: &'a [Field<'a>],
        /// Of `repr(packed(N))`; 0 if it is not packed.
        packed: u64,
    },
    /// An enum without fields.
    Enum {
        /// Its integer type.
        underlying: Builtin,
        /// Names and values.
        variants: &'a [Variant<'a>],
    },
}

/// One member of a struct or union.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// Its name; empty for an unnamed bit-field.
    pub name: &'a str,
    /// The field's type in C++.
    pub cxx: Cxx<'a>,
    /// In bytes; of a bit-field, that of its storage unit.
    pub offset: u64,
    /// The place in the storage unit, if the field is a bit-field.
    pub bits: Option<Bits>,
    /// What the field's type holds, if it is held by value.
    pub definition: &'a Definition<'a>,
}

/// Where a bit-field lies in its storage unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// From the unit's least significant bit.
    pub start: u8,
    /// In bits; 0 only for an unnamed field that ends the unit.
    pub width: u8,
}

/// One value of an enum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant<'a> {
    /// The variant's name in C++.
    pub name: &'a str,
    /// The variant's discriminant.
    pub value: i128,
}

impl Definition<'_> {
    /// For types that need none.
    pub const OPAQUE: Definition<'static> =
        Definition { cxx: Cxx::Builtin(Builtin::Void), size: 0, align: 0, body: Body::Opaque };
}

impl<'a> Name<'a> {
    /// A struct of one of CUDA's headers.
    pub const fn cuda(name: &'a str, header: &'a str) -> Self {
        Self { keyword: Keyword::Struct, namespace: "", name, arguments: &[], header }
    }
}
