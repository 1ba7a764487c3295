//! Types as C++ writes them.

use ptx_abi::cxx::{Builtin, Keyword};
use ptx_abi::owned::{OwnedArgument, OwnedCxx, OwnedName};

/// Where a type is written: inside a namespace, names from outside need their whole path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// At the top level of the file.
    Top,
    /// In a namespace.
    Elsewhere,
}

impl Context {
    /// In that namespace.
    pub fn of(namespace: &str) -> Self {
        if namespace.is_empty() { Self::Top } else { Self::Elsewhere }
    }
}

/// `struct`, `union` or `enum class`.
pub fn keyword(keyword: Keyword) -> &'static str {
    match keyword {
        Keyword::Struct => "struct",
        Keyword::Union => "union",
        Keyword::Enum => "enum class",
    }
}

/// The declaration in its namespace.
pub fn in_namespace(namespace: &str, text: &str) -> String {
    if namespace.is_empty() { text.to_string() } else { format!("namespace {namespace} {{\n{text}\n}}") }
}

/// A variable, member, parameter or function of that type: `float (*name)[4]`.
pub fn declare(cxx: &OwnedCxx, name: &str, context: Context) -> String {
    declare_qualified(cxx, name, "", context)
}

fn declare_qualified(cxx: &OwnedCxx, name: &str, qualifiers: &str, context: Context) -> String {
    let base = |text: &str| format!("{qualifiers}{text} {name}").trim_end().to_string();
    match cxx {
        OwnedCxx::Builtin(builtin) => base(builtin.spelling()),
        OwnedCxx::Named(named) => base(&full_name(named, context)),
        OwnedCxx::Parameter(index) => base(&format!("T{index}")),
        OwnedCxx::Const(inner) => declare_qualified(inner, name, &format!("const {qualifiers}"), context),
        OwnedCxx::Volatile(inner) => declare_qualified(inner, name, &format!("volatile {qualifiers}"), context),
        OwnedCxx::Restrict(inner) => declare_qualified(inner, name, &format!("__restrict__ {qualifiers}"), context),
        OwnedCxx::Pointer(inner) => declare(inner, &inner_declarator(inner, &format!("*{qualifiers}{name}")), context),
        OwnedCxx::Reference(inner) => declare(inner, &inner_declarator(inner, &format!("&{name}")), context),
        OwnedCxx::Array { element, len } => declare_qualified(element, &format!("{name}[{len}]"), qualifiers, context),
        OwnedCxx::Function { result, params } => {
            declare(result, &format!("{name}({})", parameters(params, context)), context)
        }
    }
}

/// `*p` binds weaker than `p[4]` and `p(int)`.
fn inner_declarator(inner: &OwnedCxx, text: &str) -> String {
    match inner {
        OwnedCxx::Const(next) | OwnedCxx::Volatile(next) => inner_declarator(next, text),
        OwnedCxx::Array { .. } | OwnedCxx::Function { .. } => format!("({})", text.trim_end()),
        _ => text.trim_end().to_string(),
    }
}

/// The parameters of a function type.
pub fn parameters(params: &[OwnedCxx], context: Context) -> String {
    params.iter().map(|param| declare(param, "", context)).collect::<Vec<_>>().join(", ")
}

/// As it is written in `context`.
pub fn full_name(name: &OwnedName, context: Context) -> String {
    let own = type_name(name, context);
    match (name.namespace.is_empty(), context) {
        (true, Context::Top) => own,
        (true, Context::Elsewhere) => format!("::{own}"),
        (false, _) => format!("::{}::{own}", name.namespace),
    }
}

/// With its arguments, without its namespace.
pub fn type_name(name: &OwnedName, context: Context) -> String {
    if name.arguments.is_empty() {
        return name.name.clone();
    }
    let one = |argument: &OwnedArgument| match argument {
        OwnedArgument::Type(ty) => declare(ty, "", context),
        OwnedArgument::Value { ty: Builtin::Bool, value } => (*value != 0).to_string(),
        OwnedArgument::Value { value, .. } => integer(*value),
    };
    format!("{}<{}>", name.name, name.arguments.iter().map(one).collect::<Vec<_>>().join(", "))
}

/// The template's own parameters.
pub fn template_parameters(arguments: &[OwnedArgument]) -> String {
    let one = |(index, argument): (usize, &OwnedArgument)| match argument {
        OwnedArgument::Type(_) => format!("class T{index}"),
        OwnedArgument::Value { ty, .. } => format!("{} N{index}", ty.spelling()),
    };
    arguments.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
}

/// A literal that has the value, whatever its type.
pub fn integer(value: i128) -> String {
    if value == i128::from(i64::MIN) {
        // The literal has no sign, and its value alone would be too large.
        return format!("{} - 1", value + 1);
    }
    if value > i128::from(i64::MAX) { format!("{value}u") } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use ptx_abi::CxxType;
    use ptx_abi::cxx::Cxx;

    use super::*;

    fn check<T: CxxType + ?Sized>(expected: &str) {
        assert_eq!(declare(&OwnedCxx::from(&T::CXX), "x", Context::Top), expected);
    }

    #[test]
    fn declarators() {
        check::<u64>("unsigned long x");
        check::<*const f32>("const float *x");
        check::<*const *mut i8>("signed char *const *x");
        check::<[[f32; 3]; 2]>("float x[2][3]");
        check::<*mut [f32; 4]>("float (*x)[4]");
        check::<*const [f32; 4]>("const float (*x)[4]");
        check::<[*mut f32; 4]>("float *x[4]");
        check::<extern "C" fn(i32, *const u8) -> bool>("bool (*x)(int, const unsigned char *)");
        check::<*mut extern "C" fn()>("void (**x)()");
        let restrict = OwnedCxx::Restrict(Box::new(OwnedCxx::from(&<*mut i32>::CXX)));
        assert_eq!(declare(&restrict, "x", Context::Top), "int *__restrict__ x");
        assert_eq!(declare(&OwnedCxx::from(&Cxx::Reference(&Cxx::Const(&i32::CXX))), "", Context::Top), "const int &");
    }

    #[test]
    fn literals() {
        assert_eq!(integer(-5), "-5");
        assert_eq!(integer(u64::MAX.into()), "18446744073709551615u");
        assert_eq!(integer(i64::MIN.into()), "-9223372036854775807 - 1");
    }
}
