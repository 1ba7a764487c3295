//! Every atomic operation, and the PTX that the interoperability guide, chapter 4, and the PTX ISA have for it.
//!
//! Written down here a second time, apart from the compiler's own table.

use std::fmt;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Load,
    Store,
    /// With the ordering of a failure.
    CompareExchange(Order),
    /// By LLVM's name.
    Rmw(&'static str),
}

/// The type of the value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Int(u32),
    /// By LLVM's name, and size.
    Float(&'static str, u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Block,
    Cluster,
    Device,
    System,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Generic,
    Global,
    Shared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    pub op: Op,
    pub ty: Type,
    pub order: Order,
    pub scope: Scope,
    pub space: Space,
}

/// One instruction that takes part in PTX's memory model, whatever the order of its modifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// `ld`, `st`, `atom`, `fence`
    pub kind: String,
    /// `relaxed` … `acq_rel`, `sc`
    pub sem: String,
    /// `cta` … `sys`
    pub scope: String,
    /// `global`, `shared` or nothing
    pub space: String,
    /// Operation and type, as in `add.u32`.
    pub what: String,
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, sem, scope, space, what } = self;
        let parts = [kind, sem, scope, space, what];
        f.write_str(&parts.into_iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join("."))
    }
}

pub const ORDERS: [Order; 5] = [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];
pub const SCOPES: [Scope; 4] = [Scope::Block, Scope::Cluster, Scope::Device, Scope::System];
pub const LOADS: [Order; 3] = [Order::Relaxed, Order::Acquire, Order::SeqCst];
pub const STORES: [Order; 3] = [Order::Relaxed, Order::Release, Order::SeqCst];
const INTEGER_OPS: [&str; 13] =
    ["xchg", "add", "sub", "and", "nand", "or", "xor", "max", "min", "umax", "umin", "uinc_wrap", "udec_wrap"];
const FLOATS: [(&str, u32); 6] =
    [("half", 16), ("bfloat", 16), ("float", 32), ("double", 64), ("<2 x half>", 32), ("<2 x bfloat>", 32)];

/// Every case for a GPU.
pub fn all(sm: u32) -> Vec<Case> {
    let mut operations = Vec::new();
    for bits in [8, 16, 32, 64, 128] {
        let ty = Type::Int(bits);
        operations.extend(LOADS.map(|order| (Op::Load, ty, order)));
        operations.extend(STORES.map(|order| (Op::Store, ty, order)));
        if bits < 128 || sm >= 90 {
            for order in ORDERS {
                operations.extend(LOADS.map(|failure| (Op::CompareExchange(failure), ty, order)));
                operations.extend(INTEGER_OPS.map(|name| (Op::Rmw(name), ty, order)));
            }
        }
    }
    for (name, bits) in FLOATS.into_iter().filter(|(name, _)| sm >= 90 || !name.contains("bfloat")) {
        for order in ORDERS {
            operations.extend(["fadd", "fsub"].map(|op| (Op::Rmw(op), Type::Float(name, bits), order)));
        }
    }
    let mut cases = Vec::new();
    for scope in SCOPES.into_iter().filter(|scope| sm >= 90 || *scope != Scope::Cluster) {
        for space in [Space::Generic, Space::Global, Space::Shared] {
            cases.extend(operations.iter().map(|&(op, ty, order)| Case { op, ty, order, scope, space }));
        }
    }
    cases
}

impl Type {
    pub fn bits(self) -> u32 {
        match self {
            Self::Int(bits) | Self::Float(_, bits) => bits,
        }
    }
}

impl Scope {
    /// (PTX, LLVM, CUDA C++)
    pub fn names(self) -> [&'static str; 3] {
        match self {
            Self::Block => ["cta", "block", "block"],
            Self::Cluster => ["cluster", "cluster", ""],
            Self::Device => ["gpu", "device", "device"],
            Self::System => ["sys", "", "system"],
        }
    }
}

impl Order {
    /// (LLVM, CUDA C++)
    pub fn names(self) -> [&'static str; 2] {
        match self {
            Self::Relaxed => ["monotonic", "relaxed"],
            Self::Acquire => ["acquire", "acquire"],
            Self::Release => ["release", "release"],
            Self::AcqRel => ["acq_rel", "acq_rel"],
            Self::SeqCst => ["seq_cst", "seq_cst"],
        }
    }
}

impl Case {
    /// Whether all threads agree on its place in one order.
    pub fn is_seq_cst(&self) -> bool {
        self.order == Order::SeqCst || self.op == Op::CompareExchange(Order::SeqCst)
    }

    /// What the guide asks for.
    pub fn expected(&self) -> Vec<Instruction> {
        let bits = self.ty.bits();
        let failure = match self.op {
            Op::CompareExchange(failure) => failure,
            _ => Order::Relaxed,
        };
        let orders = [self.order, failure];
        let seq_cst = self.is_seq_cst();
        let acquires = seq_cst || orders.iter().any(|o| matches!(o, Order::Acquire | Order::AcqRel));
        let releases = seq_cst || orders.iter().any(|o| matches!(o, Order::Release | Order::AcqRel));
        let mut found = Vec::new();
        if seq_cst {
            found.push(self.instruction("fence", "sc", ""));
            found[0].space.clear();
        }
        let rmw = match (acquires, releases) {
            (true, true) => "acq_rel",
            (true, false) => "acquire",
            (false, true) => "release",
            (false, false) => "relaxed",
        };
        let bit_type = format!("b{bits}");
        match self.op {
            Op::Load => found.push(self.instruction("ld", if acquires { "acquire" } else { "relaxed" }, &bit_type)),
            Op::Store => found.push(self.instruction("st", if releases { "release" } else { "relaxed" }, &bit_type)),
            Op::CompareExchange(_) if bits < 32 => found.extend(self.compare_exchange_loop(rmw, 32)),
            Op::CompareExchange(_) => found.push(self.instruction("atom", rmw, &format!("cas.{bit_type}"))),
            Op::Rmw(name) => match self.native(name) {
                Some(what) => found.push(self.instruction("atom", rmw, &what)),
                None => found.extend(self.compare_exchange_loop(rmw, bits.max(32))),
            },
        }
        found
    }

    fn compare_exchange_loop(&self, sem: &str, bits: u32) -> [Instruction; 2] {
        [self.instruction("ld", "relaxed", &format!("b{bits}")), self.instruction("atom", sem, &format!("cas.b{bits}"))]
    }

    /// The instruction of the PTX ISA, `atom`, if there is one.
    fn native(&self, name: &str) -> Option<String> {
        let bits = self.ty.bits();
        let row = match (name, self.ty) {
            ("fadd" | "fsub", Type::Float(ty, _)) => match ty {
                "half" => "add.noftz.f16",
                "bfloat" => "add.noftz.bf16",
                "<2 x half>" => "add.noftz.f16x2",
                "<2 x bfloat>" => "add.noftz.bf16x2",
                "float" => "add.f32",
                _ => "add.f64",
            }
            .to_string(),
            ("xchg", _) if bits >= 32 => format!("exch.b{bits}"),
            // Neighbours keep their bits: 1 with `and`, 0 with `or` and `xor`.
            ("and" | "or" | "xor", _) if bits < 32 => format!("{name}.b32"),
            _ if !matches!(bits, 32 | 64) => return None,
            ("and" | "or" | "xor", _) => format!("{name}.b{bits}"),
            ("add" | "sub", _) => format!("add.u{bits}"),
            ("max" | "min", _) => format!("{name}.s{bits}"),
            ("umax" | "umin", _) => format!("{}.u{bits}", &name[1..]),
            ("uinc_wrap", _) if bits == 32 => "inc.u32".to_string(),
            ("udec_wrap", _) if bits == 32 => "dec.u32".to_string(),
            _ => return None,
        };
        Some(row)
    }

    fn instruction(&self, kind: &str, sem: &str, what: &str) -> Instruction {
        let space = match self.space {
            Space::Generic => "",
            Space::Global => "global",
            Space::Shared => "shared",
        };
        Instruction {
            kind: kind.into(),
            sem: sem.into(),
            scope: self.scope.names()[0].into(),
            space: space.into(),
            what: what.into(),
        }
    }
}
