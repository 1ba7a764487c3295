//! Compiles kernels that have nothing in common apart from each other, on all cores, and only those that have changed.
//!
//! ```text
//! before: one module:   @a, @b, @c, @helper (called by @b and @c), constants
//! after:  two groups:   @a with its constants │ @b, @c, @helper with theirs
//!         one text:     .entry a, .entry b, .entry c, .func helper, constants
//! ```
//!
//! A group that needs to know of others is optimised alone, and is one module with others of that kind after that.
//!
//! It happens when LLVM has inlined: what kernels share after that, apart from constants that nobody tells from copies, keeps
//! them together. So a stage sees all that calls a function, and all that writes a static, as it would in the whole module, and
//! what it does is as right here. Each group is written as bitcode and read into a context of its own, also where there is
//! only one, and what the stages make of it depends on that bitcode alone: neither on the groups beside it nor on cores. That
//! is why it can be kept for the next time, too.

mod alike;
mod cores;
mod cut;
mod join;
mod names;
mod order;
mod split;

pub use alike::Group;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::UNIX_EPOCH;

use ptx_abi::panic::{DRAFT_SYMBOL, NOBODY_FIRST_SYMBOL, NOBODY_SYMBOL, SYMBOL};

use crate::cache::{Cache, Entry, Key, MOST_BYTES};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{self, Context, GlobalValue, Library, Module, ParseError};
use crate::request::Options;
use crate::timings::{self, Timings};

use self::split::Statics;

/// Bytes of a thread's stack: as the main thread has, because LLVM's passes call themselves.
const STACK: usize = 8 << 20;

/// What the groups are made for.
pub struct Request<'a> {
    /// What was asked for.
    pub options: &'a Options,
    /// Whether there may be several groups; each has debug information of its own.
    pub may_split: bool,
    /// What is done, and all that it heeds beside the module: of functions of these names.
    pub settings: &'a (dyn Fn(&[String]) -> String + Sync),
}

/// What was made of a group.
pub struct Outcome {
    /// Whether it is what was asked for; the group's bitcode otherwise.
    pub is_done: bool,
    /// It, or the bitcode.
    pub bytes: Vec<u8>,
}

/// What `work` makes of each of the module's groups; of one of which it makes nothing, what became of it.
pub fn apart(
    module: &Module<'_>,
    request: &Request<'_>,
    work: impl for<'c> Fn(&'c Context, &Module<'c>) -> Result<Option<Vec<u8>>> + Sync,
) -> Result<Vec<Outcome>> {
    let groups = request.groups(module, Statics::Apart);
    let made = run(module, &groups, request, |context, module| {
        let done = work(context, module)?;
        let is_done = u8::from(done.is_some());
        let mut bytes = done.unwrap_or_else(|| module.write_bitcode_to_memory().as_slice().to_vec());
        bytes.push(is_done);
        Ok(bytes)
    })?;
    let made = made.into_iter().map(|mut bytes| Outcome { is_done: bytes.pop() == Some(1), bytes });
    Ok(made.collect())
}

/// One module of the bitcode of groups of `module`.
pub fn together<'ctx>(context: &'ctx Context, module: &Module<'ctx>, groups: &[Outcome]) -> Result<Module<'ctx>> {
    let name = name(module);
    let joined = context.create_module(&name);
    for Outcome { bytes, .. } in groups {
        let group = llvm::read_bitcode(context, bytes, &name).map_err(unreadable)?;
        llvm::link(&joined, group, context).map_err(unreadable)?;
    }
    // Constants of several groups; of one, too, so that there are the same in the end.
    llvm::run_passes_for_any(&joined, "constmerge").map_err(|error| unreadable(ParseError(error)))?;
    Ok(joined)
}

/// One text of those of groups that went apart, in the order of the functions of `program`; and what may be copied in it.
pub fn join(program: &Module<'_>, groups: &[Group]) -> Result<(String, HashSet<String>)> {
    let alike = || unreadable(ParseError("two kernels have symbols that are alike".into()));
    let (texts, copied) = alike::told_apart(groups).ok_or_else(alike)?;
    Ok((join::texts(&texts, &order_of(program)), copied))
}

/// The module's PTX, of what `emit` makes of each of its groups; in the order of the functions of `program`, which was not
/// divided yet.
pub fn text(
    program: &Module<'_>,
    module: &Module<'_>,
    request: &Request<'_>,
    emit: impl for<'c> Fn(&'c Context, &Module<'c>) -> Result<String> + Sync,
) -> Result<String> {
    let groups = request.groups(module, Statics::Joined);
    let texts = run(module, &groups, request, |context, module| Ok(emit(context, module)?.into_bytes()))?;
    let texts: Vec<_> = texts.iter().map(|text| String::from_utf8_lossy(text)).collect();
    Ok(join::texts(&texts, &order_of(program)))
}

fn order_of(program: &Module<'_>) -> Vec<String> {
    llvm::functions(program).map(|function| name_of(function.as_global_value())).collect()
}

/// The names of statics of which each part of a text can have a copy.
pub fn copies(module: &Module<'_>) -> HashSet<String> {
    let of_host = [SYMBOL, NOBODY_SYMBOL, NOBODY_FIRST_SYMBOL, DRAFT_SYMBOL, ptx_abi::stack::SYMBOL];
    split::copies(module, &of_host)
}

/// A finished text in parts that have nothing in common but those copies, for ptxas; none if it stays whole.
pub fn cut(text: &str, copied: &HashSet<String>) -> Vec<String> {
    cut::texts(text, copied)
}

/// What `work` makes of each group, in their order.
fn run(module: &Module<'_>, groups: &[Vec<String>], request: &Request<'_>, work: impl Work) -> Result<Vec<Vec<u8>>> {
    let whole = module.write_bitcode_to_memory();
    let name = name(module);
    Job { whole: whole.as_slice(), name: &name, request, cache: request.cache(), program: program() }.run(groups, &work)
}

/// What is done with a group.
trait Work: for<'c> Fn(&'c Context, &Module<'c>) -> Result<Vec<u8>> + Sync {}

impl<F: for<'c> Fn(&'c Context, &Module<'c>) -> Result<Vec<u8>> + Sync> Work for F {}

fn name(module: &Module<'_>) -> String {
    module.get_name().to_string_lossy().into_owned()
}

impl<'a> Request<'a> {
    fn groups(&self, module: &Module<'_>, statics: Statics) -> Vec<Vec<String>> {
        if self.may_split { split::groups(module, statics) } else { vec![split::entries(module)] }
    }

    fn cache(&self) -> Option<Cache<'a>> {
        Some(Cache { folder: self.options.groups_cache.as_deref()?, most_bytes: MOST_BYTES })
    }
}

/// What the threads share.
struct Job<'a> {
    /// The module's bitcode.
    whole: &'a [u8],
    name: &'a str,
    request: &'a Request<'a>,
    cache: Option<Cache<'a>>,
    /// What is kept is of use to this program alone; none if it cannot be told from others.
    program: Option<String>,
}

/// What was made of a group, and how long each stage took.
type Made = (Result<Vec<u8>>, Timings);

impl Job<'_> {
    /// Of each group, in their order. The error is that of the first group that has any.
    fn run(&self, groups: &[Vec<String>], work: &impl Work) -> Result<Vec<Vec<u8>>> {
        // Measured stages follow each other.
        let cores =
            if self.request.options.timings { 1 } else { thread::available_parallelism().map_or(1, usize::from) };
        // What takes longest is begun first.
        let mut order: Vec<usize> = (0..groups.len()).collect();
        order.sort_by_key(|number| Reverse(groups[*number].len()));
        let next = AtomicUsize::new(0);
        let made: Vec<Mutex<Option<Made>>> = groups.iter().map(|_| Mutex::new(None)).collect();
        thread::scope(|scope| {
            for _ in 0..cores.min(groups.len()) {
                let thread = || {
                    while let Some(number) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let (group, place) = (&groups[*number], &made[*number]);
                        let result = self.make(group, work);
                        *place.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) =
                            Some((result, timings::take()));
                    }
                };
                // Without threads it takes longer.
                if thread::Builder::new().stack_size(STACK).spawn_scoped(scope, thread).is_err() {
                    break;
                }
            }
        });
        let mut results = Vec::new();
        for (place, group) in made.into_iter().zip(groups) {
            let made = place.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
            let (result, times) = made.unwrap_or_else(|| (self.make(group, work), Timings::default()));
            timings::adopt(&format!("group {}", group.first().map_or("", String::as_str)), times);
            results.push(result?);
        }
        Ok(results)
    }

    fn make(&self, group: &[String], work: &impl Work) -> Result<Vec<u8>> {
        let alone = self.alone(group)?;
        let settings = (self.request.settings)(group);
        let key = self.program.as_ref().map(|program| Key::of(&[&alone, program.as_bytes(), settings.as_bytes()]));
        let kept = self.cache.zip(key);
        if let Some(entry) = kept.and_then(|(cache, key)| cache.get(key)) {
            return Ok(entry.bytes);
        }
        // Read again: LLVM's choices depend on the order of uses, which is not the same in what was linked.
        let context = Context::create();
        let module = llvm::read_bitcode(&context, &alone, self.name).map_err(unreadable)?;
        let entry = Entry { log: String::new(), bytes: work(&context, &module)? };
        if let Some((cache, key)) = kept {
            cache.put(key, &entry);
        }
        Ok(entry.bytes)
    }

    /// The bitcode of a group without the others.
    fn alone(&self, group: &[String]) -> Result<Vec<u8>> {
        let context = Context::create();
        let whole = llvm::parse_lazily(&context, self.whole, self.name).map_err(unreadable)?;
        let alone = context.create_module(self.name);
        // The library makes all that is not asked for optional.
        let linkages: HashMap<_, _> = definitions(&whole).map(|value| (name_of(value), value.get_linkage())).collect();
        let library = Library::new(whole, |name| group.iter().any(|root| root == name));
        library.link_into(&alone, &context).map_err(unreadable)?;
        for value in definitions(&alone) {
            if let Some(linkage) = linkages.get(&name_of(value)).filter(|linkage| **linkage != value.get_linkage()) {
                value.set_linkage(*linkage);
            }
        }
        Ok(alone.write_bitcode_to_memory().as_slice().to_vec())
    }
}

/// Functions and statics with their contents.
fn definitions<'ctx>(module: &Module<'ctx>) -> impl Iterator<Item = GlobalValue<'ctx>> + use<'ctx> {
    let functions = llvm::functions(module).map(|function| function.as_global_value());
    functions.chain(llvm::globals(module)).filter(|value| !value.is_declaration())
}

fn name_of(value: GlobalValue<'_>) -> String {
    value.get_name().to_string_lossy().into_owned()
}

/// What tells this program from others, as a compiler of another version is one.
fn program() -> Option<String> {
    let path = std::env::current_exe().ok()?;
    let file = std::fs::metadata(&path).ok()?;
    let modified = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    Some(format!("{} {} {modified}", path.display(), file.len()))
}

fn unreadable(ParseError(error): ParseError) -> Diagnostic {
    Diagnostic::error(Code::LlvmFailed, "cannot divide the program into kernels that are compiled on their own")
        .note(format!("LLVM says: {error}"))
        .help("that is a bug of ours: please report it, with the files that `--dump-dir` writes")
}
