//! The compiler's sources lie on floors: a file takes only from its own floor and from those below.

use std::path::{Path, PathBuf};

use super::arrows::Arrows;
use super::tables::{COMPILER, FLOORS, Floor};
use super::tree::{Source, Tree};

pub fn check(tree: &Tree) -> Vec<String> {
    match tree.arrows() {
        Ok(arrows) => of(Path::new(COMPILER), FLOORS, &tree.sources, arrows),
        Err(error) => vec![format!("{error:#}")],
    }
}

fn of(root: &Path, floors: &[Floor], sources: &[Source], arrows: &Arrows) -> Vec<String> {
    let floor_of = |file: &Path| {
        let entry = file.strip_prefix(root).ok()?.iter().next()?;
        let module = Path::new(entry).with_extension("");
        floors.iter().position(|(_, modules)| modules.iter().any(|name| Path::new(name) == module))
    };
    let inside = |file: &Path| file.starts_with(root) && file.extension().is_some_and(|extension| extension == "rs");
    let files: Vec<&PathBuf> = sources.iter().map(|source| &source.path).filter(|path| inside(path)).collect();
    let mut findings: Vec<String> = files
        .iter()
        .filter(|file| floor_of(file).is_none())
        .map(|file| format!("{} is on no floor: the table FLOORS lacks its module", file.display()))
        .collect();
    for ((from, to), what) in arrows {
        if let (Some(lower), Some(upper)) = (floor_of(from), floor_of(to))
            && upper > lower
        {
            let what = Vec::from_iter(what.iter().map(String::as_str)).join(", ");
            findings.push(format!(
                "{} ({}) takes {what} from {}, which is above it ({})",
                from.display(),
                floors[lower].0,
                to.display(),
                floors[upper].0
            ));
        }
    }
    let is_there = |name: &str| {
        files.iter().any(|file| file.starts_with(root.join(name)) || ***file == *root.join(name).with_extension("rs"))
    };
    let modules = floors.iter().flat_map(|(_, modules)| modules.iter());
    findings.extend(modules.filter(|name| !is_there(name)).map(|name| format!("{name} is on a floor, but not there")));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::tests::tree;

    const HOUSE: &[Floor] = &[("ground", &["arch", "gone"]), ("llvm", &["llvm"]), ("top", &["driver", "lib"])];

    #[test]
    fn nobody_takes_from_above() {
        let tree = tree(&[
            ("c/src/lib.rs", "mod arch; mod driver; mod llvm; mod other; pub use driver::link;"),
            ("c/src/arch.rs", "use crate::llvm::Context; pub struct Arch; fn a() { crate::llvm::values::up() }"),
            ("c/src/llvm/mod.rs", "pub mod values; pub use other_crate::Context;"),
            ("c/src/llvm/values.rs", "pub fn up() { crate::arch::Arch; super::super::driver::link(); super::Context }"),
            ("c/src/driver.rs", "pub fn link() { crate::llvm::values::up() }"),
            ("c/src/other.rs", ""),
        ]);
        let expected = [
            "c/src/other.rs is on no floor: the table FLOORS lacks its module",
            "c/src/arch.rs (ground) takes Context from c/src/llvm/mod.rs, which is above it (llvm)",
            "c/src/arch.rs (ground) takes up from c/src/llvm/values.rs, which is above it (llvm)",
            "c/src/llvm/values.rs (llvm) takes link from c/src/driver.rs, which is above it (top)",
            "gone is on a floor, but not there",
        ];
        assert_eq!(of(Path::new("c/src"), HOUSE, &tree.sources, tree.arrows().expect("it is Rust")), expected);
    }
}
