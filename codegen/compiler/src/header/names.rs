//! Names that C++ takes: no keywords, none twice.

/// Names in one scope.
pub struct Names {
    taken: Vec<String>,
}

impl Names {
    /// Of a record's members, which may not have the record's own name.
    pub fn of_members(record: &str) -> Self {
        Self { taken: vec![record.to_string()] }
    }

    /// Of a function's parameters.
    pub fn of_parameters() -> Self {
        Self { taken: Vec::new() }
    }

    /// A member's name: a keyword gets an underscore behind it. An unnamed bit-field has none.
    pub fn member(&mut self, name: &str) -> String {
        if name.is_empty() { String::new() } else { self.free(name) }
    }

    /// A parameter's name; a pattern has none of its own.
    pub fn parameter(&mut self, name: &str) -> String {
        let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_') && name.chars().any(|c| c != '_');
        if is_name { self.free(name) } else { self.free(&format!("arg{}", self.taken.len())) }
    }

    fn free(&mut self, name: &str) -> String {
        let mut name = name.to_string();
        while is_keyword(&name) || self.taken.contains(&name) {
            name.push('_');
        }
        self.taken.push(name.clone());
        name
    }
}

/// `PTX_DEMO_H` for a crate `demo`.
pub fn file_macro(name: &str) -> String {
    let upper: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    format!("PTX_{upper}_H")
}

/// Words of C++20 that name nothing (ISO C++20, 5.11, Table 5, and 5.5).
pub fn is_keyword(name: &str) -> bool {
    KEYWORDS.binary_search(&name).is_ok()
}

const KEYWORDS: [&str; 93] = [
    "__restrict__",
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_and_doubles_get_an_underscore() {
        let mut names = Names::of_members("S");
        let given = ["class", "class_", "S", "x", ""].map(|name| names.member(name));
        assert_eq!(given, ["class_", "class__", "S_", "x", ""]);
        let mut names = Names::of_parameters();
        assert_eq!(["_", "x", "new"].map(|name| names.parameter(name)), ["arg0", "x", "new_"]);
        assert_eq!(file_macro("my-crate"), "PTX_MY_CRATE_H");
    }

    #[test]
    fn keywords_are_in_order() {
        assert!(KEYWORDS.is_sorted());
    }
}
