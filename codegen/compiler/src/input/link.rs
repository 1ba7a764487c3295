//! Links members into one module, taking from each only what is referred to.
//!
//! Before: a module for every codegen unit of every crate, `core` with thousands of functions among them. After: one
//! module with the kernels' shims, exported functions, and what these reach.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::builtins::Builtins;
use super::files::{File, Member, broken};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{self, Context, Library, Linkage, Module, ParseError};

/// Links all files into a module named `name`; without the lines of the source, less is read.
pub fn link<'ctx>(
    context: &'ctx Context,
    files: &'ctx [File],
    name: &str,
    exports: &[String],
    has_lines: bool,
) -> Result<Module<'ctx>> {
    let mut units = Vec::new();
    for file in files {
        for member in file.members()? {
            units.push(Unit::new(context, member)?);
        }
    }
    let module = context.create_module(name);
    let symbols = symbols(&units);
    let linker = Linker { context, exports, module: &module, symbols: &symbols, has_lines };
    for unit in &mut units {
        if unit.member.is_object || unit.has_roots || exports.iter().any(|export| unit.defined.contains(export)) {
            linker.link(unit)?;
        }
    }
    complete(&linker, &mut units)?;
    // LLVM's passes and its emission take it for granted.
    module.verify().map_err(|error| invalid(&error.to_string()))?;
    Ok(module)
}

fn invalid(reason: &str) -> Diagnostic {
    Diagnostic::error(Code::BrokenInput, "the crates' bitcode is not valid LLVM IR")
        .note(format!("LLVM says: {}", reason.trim()))
        .help("build every crate again (`cargo clean`); if it stays so, please report it")
}

/// What defines every symbol: the first that does.
fn symbols(units: &[Unit<'_>]) -> HashMap<String, usize> {
    let units = units.iter().enumerate().rev();
    units.flat_map(|(index, unit)| unit.defined.iter().map(move |symbol| (symbol.clone(), index))).collect()
}

/// Links what the module refers to, until nothing is left that a unit defines.
fn complete<'ctx>(linker: &Linker<'_, 'ctx>, units: &mut [Unit<'ctx>]) -> Result<()> {
    let mut builtins = Builtins::default();
    loop {
        builtins.call(linker.context, linker.module, |name| linker.symbols.contains_key(name))?;
        let wanted = linker.wanted();
        if wanted.is_empty() {
            return Ok(());
        }
        for index in wanted {
            linker.link(&mut units[index])?;
        }
    }
}

/// The functions of the files whose names begin so.
pub fn definitions<'ctx>(context: &'ctx Context, files: &'ctx [File], prefix: &str) -> Result<HashSet<String>> {
    let mut found = HashSet::new();
    for file in files {
        for member in file.members()?.into_iter().filter(|member| !member.is_object) {
            found.extend(Unit::new(context, member)?.defined.into_iter().filter(|name| name.starts_with(prefix)));
        }
    }
    Ok(found)
}

/// Links what `module`, to which the files were linked already, has come to refer to since.
pub fn link_wanted<'ctx>(context: &'ctx Context, files: &'ctx [File], module: &Module<'ctx>) -> Result<()> {
    let mut units = Vec::new();
    for file in files {
        for member in file.members()? {
            let unit = Unit::new(context, member)?;
            // Roots are there.
            units.push(Unit { module: None, was_linked: true, ..unit });
        }
    }
    let symbols = symbols(&units);
    complete(&Linker { context, exports: &[], module, symbols: &symbols, has_lines: true }, &mut units)
}

/// A member and its module, until that is linked.
struct Unit<'ctx> {
    member: Member<'ctx>,
    /// Headers only; reading them again is cheap.
    module: Option<Module<'ctx>>,
    defined: BTreeSet<String>,
    /// Something in it is kept whether referred to or not: a descriptor, another `#[used]` static, a kernel.
    has_roots: bool,
    was_linked: bool,
}

impl<'ctx> Unit<'ctx> {
    fn new(context: &'ctx Context, mut member: Member<'ctx>) -> Result<Self> {
        if let Some(defined) = member.defined.take() {
            return Ok(Self { member, module: None, defined, has_roots: false, was_linked: false });
        }
        let module = parse(context, &member)?;
        let (mut defined, mut has_roots) = (BTreeSet::new(), false);
        for function in llvm::functions(&module).filter(|f| !f.as_global_value().is_declaration()) {
            has_roots |= function.get_call_conventions() == llvm::PTX_KERNEL;
            if !is_local(function.get_linkage()) {
                defined.insert(function.get_name().to_string_lossy().into_owned());
            }
        }
        for global in llvm::globals(&module).filter(|g| !g.is_declaration()) {
            match global.get_linkage() {
                Linkage::Appending => has_roots = true,
                linkage if is_local(linkage) => {}
                _ => drop(defined.insert(global.get_name().to_string_lossy().into_owned())),
            }
        }
        Ok(Self { member, module: Some(module), defined, has_roots, was_linked: false })
    }
}

/// Whether a module must not be split over several links: it has a static whose address or contents are its identity.
fn is_whole(module: &Module<'_>) -> bool {
    let mut locals = llvm::globals(module).filter(|g| !g.is_declaration() && is_local(g.get_linkage()));
    // LLVM gives `unnamed_addr` to variables, too, whose address nobody asks for.
    locals.any(|global| !global.has_unnamed_addr() || !global.is_constant())
}

fn is_local(linkage: Linkage) -> bool {
    matches!(linkage, Linkage::Internal | Linkage::Private)
}

struct Linker<'a, 'ctx> {
    context: &'ctx Context,
    exports: &'a [String],
    module: &'a Module<'ctx>,
    symbols: &'a HashMap<String, usize>,
    has_lines: bool,
}

impl<'ctx> Linker<'_, 'ctx> {
    fn link(&self, unit: &mut Unit<'ctx>) -> Result<()> {
        let again = std::mem::replace(&mut unit.was_linked, true);
        let source = match unit.module.take() {
            Some(module) => module,
            None => parse(self.context, &unit.member)?,
        };
        if !self.has_lines {
            llvm::strip_debug_info(&source);
        }
        if again {
            // Roots came with the first link; now only what has been asked for since is wanted.
            let roots = llvm::globals(&source).filter(|g| g.get_linkage() == Linkage::Appending).collect::<Vec<_>>();
            // SAFETY: nothing refers to lists as `llvm.used`, and the handles end here.
            roots.into_iter().for_each(|root| unsafe { llvm::delete_global(root) });
        }
        self.call_runtime(&source);
        let whole = is_whole(&source);
        let is_root = |symbol: &str| !again && (whole || self.exports.iter().any(|export| export == symbol));
        llvm::doing(Code::BrokenInput, format!("cannot read {}", unit.member));
        Library::new(source, is_root)
            .link_into(self.module, self.context)
            .map_err(|error| failure(&unit.member, &error).into())
    }

    /// Units that define something which the module only declares.
    fn wanted(&self) -> BTreeSet<usize> {
        let functions = llvm::functions(self.module)
            .filter(|f| f.as_global_value().is_declaration())
            .map(|f| f.get_name().to_string_lossy().into_owned());
        let globals = llvm::globals(self.module)
            .filter(|g| g.is_declaration())
            .map(|g| g.get_name().to_string_lossy().into_owned());
        functions.chain(globals).filter_map(|symbol| self.symbols.get(&symbol).copied()).collect()
    }

    /// Lets calls of core's failed bounds check, and of alloc's failed allocation, go to the device runtime's, which need no
    /// `core::fmt`.
    fn call_runtime(&self, source: &Module<'ctx>) {
        for (path, runtime) in [
            ("core::panicking::panic_bounds_check", "__ptx_rt_panic_bounds_check"),
            ("__rustc::__rdl_alloc_error_handler", "__ptx_rt_alloc_error"),
        ] {
            if !self.symbols.contains_key(runtime) || source.get_function(runtime).is_some() {
                continue;
            }
            let last = path.rsplit("::").next().unwrap_or(path);
            for function in llvm::functions(source) {
                let Ok(name) = function.get_name().to_str() else { continue };
                if name.contains(last)
                    && function.as_global_value().is_declaration()
                    && format!("{:#}", rustc_demangle::demangle(name)) == path
                {
                    function.as_global_value().set_name(runtime);
                }
            }
        }
    }
}

fn parse<'ctx>(context: &'ctx Context, member: &Member<'ctx>) -> Result<Module<'ctx>> {
    llvm::doing(Code::BrokenInput, format!("cannot read {member}"));
    let name = member.to_string();
    let module = if member.bytes.starts_with(b"BC") || member.bytes.starts_with(&[0xde, 0xc0]) {
        llvm::parse_lazily(context, member.bytes, &name)
    } else {
        llvm::parse_ir(context, member.bytes, &name)
    };
    module.map_err(|error| failure(member, &error).into())
}

/// LLVM's message as one of ours. LLVM names producer and reader when it cannot read a record.
fn failure(member: &Member<'_>, ParseError(reason): &ParseError) -> Diagnostic {
    // "Linking globals named 'k': symbol multiply defined!"
    if reason.contains("symbol multiply defined") {
        let symbol = reason.split('\'').nth(1).unwrap_or("?");
        return Diagnostic::error(Code::DuplicateKernel, format!("two exported functions are named `{symbol}`"))
            .note(format!("the second is in {member}"))
            .help("rename one of them");
    }
    let producer = reason.split("Producer: '").nth(1).and_then(|rest| rest.split('\'').next());
    let ours = concat!("LLVM", env!("PTX_LLVM_VERSION"));
    let foreign = producer.is_some_and(|producer| !producer.replace(' ', "").starts_with(ours));
    if foreign || reason.contains("Incompatible epoch") {
        return Diagnostic::error(Code::ForeignBitcode, format!("{member} holds bitcode of another LLVM"))
            .note(format!("it was written by {}", producer.unwrap_or("an incompatible LLVM")))
            .note(format!("this linker reads bitcode of {ours} (rustc {})", crate::version::RUSTC_RELEASE))
            .note(format!("LLVM says: {reason}"))
            .help("build the linker and every crate with the same rustc, and run `cargo clean` on mixed output");
    }
    broken(member, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of such a module with a variable of its own and half with another one used to be linked: what one function
    /// stored, the other did not load.
    #[test]
    fn a_module_with_variables_is_linked_as_a_whole() {
        let context = Context::create();
        let is_whole = |text: &str| is_whole(&llvm::parse_ir(&context, text.as_bytes(), "test").unwrap());
        assert!(is_whole("@count = internal unnamed_addr global i32 0"));
        assert!(is_whole("@identity = internal constant i32 7"));
        assert!(!is_whole("@text = private unnamed_addr constant [1 x i8] c\"a\""));
    }
}
