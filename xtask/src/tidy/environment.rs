//! The environment is read in few files; what else needs it gets it by options.

use super::tables::{ENVIRONMENT, ENVIRONMENT_RULES_IN};
use super::tree::Tree;

/// A file or folder that reads the environment, and why.
type Reader = (&'static str, &'static str);

pub fn check(tree: &Tree) -> Vec<String> {
    besides(ENVIRONMENT, tree)
}

fn besides(listed: &[Reader], tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    let mut needed = vec![false; listed.len()];
    for source in &tree.sources {
        let product = ENVIRONMENT_RULES_IN.iter().any(|folder| source.path.starts_with(folder));
        let is_test = source.path.iter().any(|part| part == "tests") || source.path.ends_with("build.rs");
        if !product || is_test || !source.is("rs") {
            continue;
        }
        let lines = readers(&source.text);
        match listed.iter().position(|(file, _)| source.path.starts_with(file)) {
            Some(at) => needed[at] |= !lines.is_empty(),
            None => findings.extend(lines.iter().map(|(number, line)| {
                format!(
                    "{}:{number}: only files in the table ENVIRONMENT read the environment: {line}",
                    source.path.display()
                )
            })),
        }
    }
    let idle = listed.iter().zip(needed).filter(|(_, needed)| !needed);
    findings
        .extend(idle.map(|((file, _), _)| format!("{file} does not read the environment: take it out of the table")));
    findings
}

/// Lines before the unit tests that read variables.
fn readers(text: &str) -> Vec<(usize, &str)> {
    let names = ["env::var(", "env::var_os", "env::vars(", "env::vars_os", "env::{var", "(env::var)"];
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = code.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    lines.filter(|(_, line)| !line.starts_with("//") && names.iter().any(|name| line.contains(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::tests::tree;

    #[test]
    fn readers_outside_of_the_table_are_found() {
        let text =
            "//! std::env::var(\nlet a = std::env::var(\"A\");\n#[cfg(test)]\nmod tests {\nstd::env::var(\"B\")\n}";
        let files = [
            ("runtime/a/src/listed.rs", "env::var_os(name)"),
            ("runtime/a/src/other.rs", text),
            ("runtime/a/tests/a.rs", text),
            ("codegen/build.rs", text),
            ("xtask/src/main.rs", text),
        ];
        let listed = &[("runtime/a/src/listed.rs", "a test"), ("runtime/b/src", "a test")];
        let expected = [
            "runtime/a/src/other.rs:2: only files in the table ENVIRONMENT read the environment: let a = \
             std::env::var(\"A\");",
            "runtime/b/src does not read the environment: take it out of the table",
        ];
        assert_eq!(besides(listed, &tree(&files)), expected);
    }
}
