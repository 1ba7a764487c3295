//! Atomic operations to PTX, as data: the mapping of the PTX Writer's Guide to Interoperability, chapter 4.
//!
//! `seq_cst` is `fence.sc.<scope>` and then the operation as `acquire` (loads), `release` (stores) or `acq_rel`
//! (read-modify-write); every other ordering is the instruction's own.

use std::fmt;

use crate::llvm::{AtomicOrdering, Rmw};

/// Which threads an operation orders (PTX ISA, "Scope").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Those of the block.
    Block,
    /// Those of the cluster, from sm_90 on.
    Cluster,
    /// Those of the GPU.
    Device,
    /// All, the host's and other GPUs' too.
    System,
}

impl Scope {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Block, Self::Cluster, Self::Device, Self::System];

    /// LLVM's name of it.
    pub fn llvm(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Cluster => "cluster",
            Self::Device => "device",
            Self::System => "",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Block => "cta",
            Self::Cluster => "cluster",
            Self::Device => "gpu",
            Self::System => "sys",
        })
    }
}

/// Where the memory is, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Not known.
    Generic,
    /// Global memory.
    Global,
    /// Shared memory of the thread's own block.
    Shared,
    /// The thread's own, where nobody else can look.
    Local,
}

impl Space {
    /// LLVM's number of it; `None` for memory that cannot be written (constants, parameters) or is another block's.
    pub fn of_llvm(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Generic,
            1 => Self::Global,
            3 => Self::Shared,
            5 => Self::Local,
            _ => return None,
        })
    }

    /// LLVM's number of it.
    pub fn llvm(self) -> u16 {
        match self {
            Self::Generic => 0,
            Self::Global => 1,
            Self::Shared => 3,
            Self::Local => 5,
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            Self::Generic => "",
            Self::Global => ".global",
            Self::Shared => ".shared",
            Self::Local => ".local",
        }
    }
}

/// What an ordering becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Order {
    /// Whether `fence.sc` comes before.
    pub fence: bool,
    /// Whether what comes after it in the program stays after it.
    pub acquire: bool,
    /// Whether what comes before it in the program stays before it.
    pub release: bool,
}

impl Order {
    /// That of a read-modify-write.
    pub fn of_rmw(ordering: AtomicOrdering) -> Self {
        use AtomicOrdering as O;
        Self {
            fence: ordering == O::SequentiallyConsistent,
            acquire: matches!(ordering, O::Acquire | O::AcquireRelease | O::SequentiallyConsistent),
            release: matches!(ordering, O::Release | O::AcquireRelease | O::SequentiallyConsistent),
        }
    }

    /// That of a compare-exchange: one instruction does for both outcomes, so it has what either asks for.
    pub fn of_compare_exchange(success: AtomicOrdering, failure: AtomicOrdering) -> Self {
        let (success, failure) = (Self::of_rmw(success), Self::of_rmw(failure));
        Self {
            fence: success.fence || failure.fence,
            acquire: success.acquire || failure.acquire,
            release: success.release || failure.release,
        }
    }

    /// That of a load.
    pub fn of_load(ordering: AtomicOrdering) -> Self {
        Self { release: false, ..Self::of_rmw(ordering) }
    }

    /// That of a store.
    pub fn of_store(ordering: AtomicOrdering) -> Self {
        Self { acquire: false, ..Self::of_rmw(ordering) }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.acquire, self.release) {
            (false, false) => "relaxed",
            (true, false) => "acquire",
            (false, true) => "release",
            (true, true) => "acq_rel",
        })
    }
}

/// What is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// An integer or pointer of so many bits: 8, 16, 32, 64 or 128.
    Bits(u32),
    /// `f16`
    F16,
    /// `bf16`
    Bf16,
    /// `f32`
    F32,
    /// `f64`
    F64,
    /// Two `f16`, added each for itself.
    F16x2,
    /// Two `bf16`, added each for itself.
    Bf16x2,
}

impl Type {
    /// Of packed types both halves count: 32 for `F16x2`.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bits(bits) => bits,
            Self::F16 | Self::Bf16 => 16,
            Self::F32 | Self::F16x2 | Self::Bf16x2 => 32,
            Self::F64 => 64,
        }
    }
}

/// How a read-modify-write is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// By one instruction: `atom.….<op>` with this operation and type.
    Instruction(&'static str),
    /// By that with the negated operand.
    Negated(&'static str),
    /// On the 32-bit word around it, by one instruction whose operand leaves the other bits alone.
    Word(&'static str),
    /// By compare-exchange until nobody came between.
    Loop,
}

/// How `operation` is done on a value of type `ty` (PTX ISA, `atom`).
pub fn method(operation: Rmw, ty: Type) -> Method {
    use Method::{Instruction, Loop, Negated, Word};
    let wide = match ty.bits() {
        32 => Some(false),
        64 => Some(true),
        _ => None,
    };
    let pick = |narrow, broad| match wide {
        Some(false) => Instruction(narrow),
        Some(true) => Instruction(broad),
        None => Loop,
    };
    match operation {
        Rmw::Xchg if ty.bits() == 128 => Instruction("exch.b128"),
        Rmw::Xchg => pick("exch.b32", "exch.b64"),
        Rmw::Add => pick("add.u32", "add.u64"),
        Rmw::Sub => match wide {
            Some(false) => Negated("add.u32"),
            Some(true) => Negated("add.u64"),
            None => Loop,
        },
        Rmw::And if ty.bits() < 32 => Word("and.b32"),
        Rmw::Or if ty.bits() < 32 => Word("or.b32"),
        Rmw::Xor if ty.bits() < 32 => Word("xor.b32"),
        Rmw::And => pick("and.b32", "and.b64"),
        Rmw::Or => pick("or.b32", "or.b64"),
        Rmw::Xor => pick("xor.b32", "xor.b64"),
        Rmw::Max => pick("max.s32", "max.s64"),
        Rmw::Min => pick("min.s32", "min.s64"),
        Rmw::UMax => pick("max.u32", "max.u64"),
        Rmw::UMin => pick("min.u32", "min.u64"),
        Rmw::UIncWrap if wide == Some(false) => Instruction("inc.u32"),
        Rmw::UDecWrap if wide == Some(false) => Instruction("dec.u32"),
        Rmw::FAdd | Rmw::FSub => {
            let add = match ty {
                Type::F16 => "add.noftz.f16",
                Type::Bf16 => "add.noftz.bf16",
                Type::F32 => "add.f32",
                Type::F64 => "add.f64",
                Type::F16x2 => "add.noftz.f16x2",
                Type::Bf16x2 => "add.noftz.bf16x2",
                Type::Bits(_) => return Loop,
            };
            if operation == Rmw::FAdd { Instruction(add) } else { Negated(add) }
        }
        _ => Loop,
    }
}

/// The lowest arch with read-modify-writes on that type, and what to call them if that is not every arch's.
pub fn needs(operation: Option<Rmw>, ty: Type) -> Option<(u32, &'static str)> {
    match (operation, ty) {
        (_, Type::Bits(128)) => Some((90, "atomic read-modify-write operations on 128 bits")),
        (Some(Rmw::FAdd | Rmw::FSub), Type::Bf16 | Type::Bf16x2) => Some((90, "atomic addition of `bf16` values")),
        _ => None,
    }
}

/// As in `atom.acq_rel.gpu.global.add.u32`; `what` is the operation with its type.
pub fn instruction(mnemonic: &str, order: Order, scope: Scope, space: Space, what: &str) -> String {
    format!("{mnemonic}.{order}.{scope}{}.{what}", space.suffix())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orderings_are_the_guides() {
        use AtomicOrdering as O;
        let text = |order: Order| format!("{}{order}", if order.fence { "fence.sc " } else { "" });
        let rows = [
            (O::Monotonic, ["relaxed", "relaxed", "relaxed"]),
            (O::Acquire, ["acquire", "acquire", "relaxed"]),
            (O::Release, ["release", "relaxed", "release"]),
            (O::AcquireRelease, ["acq_rel", "acquire", "release"]),
            (O::SequentiallyConsistent, ["fence.sc acq_rel", "fence.sc acquire", "fence.sc release"]),
        ];
        for (ordering, [rmw, load, store]) in rows {
            assert_eq!(text(Order::of_rmw(ordering)), rmw);
            assert_eq!(text(Order::of_load(ordering)), load);
            assert_eq!(text(Order::of_store(ordering)), store);
        }
        assert_eq!(text(Order::of_compare_exchange(O::Release, O::Acquire)), "acq_rel");
        assert_eq!(text(Order::of_compare_exchange(O::Monotonic, O::SequentiallyConsistent)), "fence.sc acq_rel");
    }

    #[test]
    fn instructions_are_spelled_as_ptxas_reads_them() {
        let order = Order::of_rmw(AtomicOrdering::AcquireRelease);
        let text = |scope, space, what| instruction("atom", order, scope, space, what);
        assert_eq!(text(Scope::Block, Space::Shared, "add.u32"), "atom.acq_rel.cta.shared.add.u32");
        assert_eq!(text(Scope::System, Space::Generic, "exch.b64"), "atom.acq_rel.sys.exch.b64");
    }

    #[test]
    fn narrow_and_odd_operations_have_another_way() {
        assert_eq!(method(Rmw::Add, Type::Bits(8)), Method::Loop);
        assert_eq!(method(Rmw::Or, Type::Bits(16)), Method::Word("or.b32"));
        assert_eq!(method(Rmw::Sub, Type::Bits(64)), Method::Negated("add.u64"));
        assert_eq!(method(Rmw::Nand, Type::Bits(32)), Method::Loop);
        assert_eq!(method(Rmw::UIncWrap, Type::Bits(64)), Method::Loop);
        assert_eq!(method(Rmw::Xchg, Type::Bits(128)), Method::Instruction("exch.b128"));
        assert_eq!(method(Rmw::Add, Type::Bits(128)), Method::Loop);
        assert_eq!(method(Rmw::Xchg, Type::F64), Method::Instruction("exch.b64"));
    }
}
