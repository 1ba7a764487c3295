//! The chains: the same ones for the build script, which writes them as PTX, and for the test, which computes them.

/// Chains that one kernel computes.
pub const IN_KERNEL: usize = 16;

/// Kernels of a module, named `k0`, `k1`, ….
pub const IN_MODULE: usize = 32;

/// An operand of 16 bits.
#[derive(Clone, Copy, Debug)]
pub enum Operand {
    /// What the first or second source gives.
    Source(usize),
    /// The result of that step.
    Step(usize),
    /// Known to ptxas.
    Constant(i16),
}

/// One row of a table, with its operands.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub row: usize,
    pub operands: [Operand; 2],
}

/// Steps whose operands are sources, constants, and results of earlier steps.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Rows of the table of sources.
    pub sources: [usize; 2],
    pub steps: Vec<Step>,
    pub end: Step,
}

/// Halfwords at which something begins or ends.
pub const EDGES: [i16; 20] =
    [0, 1, -1, 2, -2, 7, 15, 100, 127, 128, 129, -127, -128, -129, 255, 256, 0x5555, i16::MAX, i16::MIN, -i16::MAX];

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    /// The first operand is the result of the step before, the second is anything.
    fn step(&mut self, rows: usize, before: usize) -> Step {
        let first = before.checked_sub(1).map_or(Operand::Source(0), Operand::Step);
        let second = match self.below(5) {
            0 => Operand::Source(0),
            1 | 2 => Operand::Source(1),
            _ => Operand::Constant(EDGES[self.below(EDGES.len())]),
        };
        Step { row: self.below(rows), operands: [first, second] }
    }
}

/// Every operation before every end, every two operations, and some three; from tables with so many rows.
pub fn all(sources: usize, operations: usize, ends: usize) -> Vec<Chain> {
    let mut random = Random(16);
    let mut chains = Vec::new();
    let mut add = |random: &mut Random, rows: &[usize], end: Option<usize>| {
        let steps =
            rows.iter().zip(0..).map(|(&row, before)| Step { row, ..random.step(operations, before) }).collect();
        let last = random.step(ends, rows.len());
        let end = Step { row: end.unwrap_or(last.row), ..last };
        chains.push(Chain { sources: [random.below(sources), random.below(sources)], steps, end });
    };
    for first in 0..operations {
        for end in 0..ends {
            add(&mut random, &[first], Some(end));
        }
        for second in 0..operations {
            add(&mut random, &[first, second], None);
            let third = random.below(operations);
            add(&mut random, &[first, second, third], None);
        }
    }
    chains
}
