//! What a PTX text says of its symbols: the state space of each, and where functions begin.

use std::collections::HashMap;

use crate::ptx_text::{self, Kind};

/// `DW_AT_address_class` (PTX Writer's Guide to Interoperability 12.8, §5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// In registers.
    Register = 2,
    /// `.const`
    Constant = 4,
    /// `.global`
    Global = 5,
    /// `.local`: the stack.
    Local = 6,
    /// `.param` of a kernel.
    Parameter = 7,
    /// `.shared`
    Shared = 8,
    /// A generic address.
    Generic = 12,
}

/// Symbols of a PTX text.
#[derive(Debug, Default)]
pub struct Symbols {
    /// Of variables and of kernels' parameters.
    pub classes: HashMap<String, Class>,
    /// Kernels by the label at their beginning, as in `$L__func_begin0`.
    pub kernels: HashMap<String, String>,
}

impl Symbols {
    /// Reads the declarations.
    pub fn of(ptx: &str) -> Self {
        let mut symbols = Self::default();
        let mut kernel: Option<String> = None;
        for line in ptx_text::lines(ptx) {
            match line.kind {
                Kind::Section(_) => break,
                Kind::Label(label) => {
                    if let Some(kernel) = kernel.take_if(|_| label.contains("func_begin")) {
                        symbols.kernels.insert(label.into(), kernel);
                    }
                }
                Kind::Function(function) => kernel = function.is_kernel.then(|| function.name.into()),
                Kind::Statement => symbols.declaration(line.code(), kernel.is_some()),
                _ => {}
            }
        }
        symbols
    }

    /// Reads `.global .align 4 .u32 counter = 7;`; a statement that declares nothing does no harm.
    fn declaration(&mut self, code: &str, is_of_kernel: bool) {
        // Up to the size or the value.
        let words = || ptx_text::words(code).take_while(|word| !matches!(*word, "[" | "=" | ";" | ","));
        let class = words().take_while(|word| word.starts_with('.')).find_map(|word| match word {
            ".const" => Some(Class::Constant),
            ".global" => Some(Class::Global),
            ".local" => Some(Class::Local),
            ".shared" => Some(Class::Shared),
            ".param" if is_of_kernel => Some(Class::Parameter),
            _ => None,
        });
        if let (Some(class), Some(name)) = (class, words().last().filter(|word| !word.starts_with('.'))) {
            self.classes.insert(name.into(), class);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_tell_the_class() {
        let ptx = "\
.const .align 4 .b8 table[16] = {1, 0};
.global .align 4 .u32 counter = 7;
.visible .func  (.param .b32 func_retval0) add(
\t.param .b32 add_param_0
)
{
$L__func_begin0:
}
.visible .entry k(
\t.param .u64 .ptr .align 4 k_param_0,
\t.param .align 4 .b8 k_param_1[8]
)
.maxntid 32
{
\t.local .align 4 .b8 \t__local_depot2[36];
\t.shared .align 4 .b8 tile[128];
$L__func_begin1:
";
        let symbols = Symbols::of(ptx);
        for (name, class) in [
            ("table", Class::Constant),
            ("counter", Class::Global),
            ("k_param_0", Class::Parameter),
            ("k_param_1", Class::Parameter),
            ("__local_depot2", Class::Local),
            ("tile", Class::Shared),
        ] {
            assert_eq!(symbols.classes.get(name), Some(&class), "{name}");
        }
        assert_eq!(symbols.classes.len(), 6, "{:?}", symbols.classes);
        assert_eq!(symbols.kernels.len(), 1);
        assert_eq!(symbols.kernels["$L__func_begin1"], "k");
    }
}
