//! What a kernel's calls need of the stack, from the functions' frames.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::calls::Calls;
use crate::graph;

/// Bytes that a function takes beside its variables, where ptxas does not say: registers that it saves, above all.
const SAVED: u64 = 256;

/// Bytes of stack by function, as ptxas names and counts them.
pub type Frames = HashMap<String, u32>;

/// What recursion needs of the stack, in bytes a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recursion {
    /// One more turn, at most: of functions that call each other by name. 0 where only calls through pointers come back.
    pub level: u32,
    /// What must be free where a function looks for the stack's end: all up to the next that does.
    pub reserve: u32,
}

/// What the calls from a kernel need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Bytes of the longest way that comes back to no function.
    pub stack: u64,
    /// None if no way does.
    pub recursion: Option<Recursion>,
}

impl Calls {
    /// What the kernel of that name needs. A function without a frame has its part in the frame of those that call it.
    pub fn need(&self, kernel: &str, frames: &Frames) -> Need {
        let Some(kernel) = self.functions.iter().position(|function| function.name == kernel) else {
            return Need::default();
        };
        let reached = self.reached(kernel);
        let frame = |number: usize| match frames.get(&self.functions[number].name) {
            Some(bytes) if reached[number] => u64::from(*bytes),
            _ => 0,
        };
        let stack = self.longest_way(kernel, &frame);
        let is_recursive = (0..reached.len()).any(|number| reached[number] && self.functions[number].checks);
        let recursion = is_recursive.then(|| Recursion {
            level: saturate(self.level(&frame)),
            reserve: saturate(self.reserve(&|number| reached[number], &frame)),
        });
        Need { stack, recursion }
    }

    /// What must be free where a check passes, as far as the functions' variables tell.
    pub fn reserve_of_variables(&self) -> u64 {
        self.reserve(&|_| true, &|number| self.functions[number].variables + SAVED)
    }

    /// Whether a kernel makes text of values on the device.
    pub fn makes_text(&self, kernel: &str) -> bool {
        let Some(kernel) = self.functions.iter().position(|function| function.name == kernel) else { return false };
        let reached = self.reached(kernel);
        (0..reached.len()).any(|number| reached[number] && self.functions[number].is_text)
    }

    fn reached(&self, from: usize) -> Vec<bool> {
        let successors = self.successors();
        let mut reached = vec![false; successors.len()];
        let mut pending = vec![from];
        while let Some(number) = pending.pop() {
            if !std::mem::replace(&mut reached[number], true) {
                pending.extend(&successors[number]);
            }
        }
        reached
    }

    /// Bytes of the longest way from a function that turns back nowhere: within a circle, no call of a function that checks.
    fn longest_way(&self, from: usize, frame: &dyn Fn(usize) -> u64) -> u64 {
        let mut successors = self.successors();
        let mut circle = vec![0; successors.len()];
        for (number, component) in graph::components(&successors).iter().enumerate() {
            component.iter().for_each(|node| circle[*node] = number);
        }
        for (number, called) in successors.iter_mut().enumerate() {
            called.retain(|to| !(self.functions[*to].checks && circle[*to] == circle[number]));
        }
        let mut bytes = vec![0; successors.len()];
        for number in graph::components(&successors).into_iter().flatten() {
            let deepest = successors[number].iter().map(|to| bytes[*to]).max().unwrap_or(0);
            bytes[number] = frame(number) + deepest;
        }
        bytes[from]
    }

    /// The most bytes from a function that checks to the next that does, whose own frame is there before it looks.
    fn reserve(&self, of: &dyn Fn(usize) -> bool, frame: &dyn Fn(usize) -> u64) -> u64 {
        let successors = self.successors();
        let mut onwards = successors.clone();
        onwards.iter_mut().for_each(|called| called.retain(|to| !self.functions[*to].checks));
        let mut until = vec![0; successors.len()];
        for number in graph::components(&onwards).into_iter().flatten() {
            let next = |to: &usize| frame(*to) + if self.functions[*to].checks { 0 } else { until[*to] };
            until[number] = successors[number].iter().map(next).max().unwrap_or(0);
        }
        (0..until.len())
            .filter(|number| self.functions[*number].checks && of(*number))
            .map(|n| until[n])
            .max()
            .unwrap_or(0)
    }

    /// Bytes of the largest circle of functions that call each other by name: what one more turn takes at most. Calls
    /// through pointers are left out, because most that seem to come back never do; and panics, which end the launch.
    fn level(&self, frame: &dyn Fn(usize) -> u64) -> u64 {
        let comes_back = |to: &usize| !self.functions[*to].never_returns;
        let called: Vec<Vec<usize>> = self
            .functions
            .iter()
            .map(|function| function.direct.iter().copied().filter(comes_back).collect())
            .collect();
        let components = graph::components(&called).into_iter();
        let circles = components.filter(|nodes| nodes.len() > 1 || called[nodes[0]].contains(&nodes[0]));
        circles.map(|nodes| nodes.into_iter().map(frame).sum()).max().unwrap_or(0)
    }
}

fn saturate(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::calls::Function;
    use super::*;

    fn calls(functions: &[(&str, bool, &[usize], &[usize])]) -> Calls {
        let function = |(name, checks, direct, indirect): &(&str, bool, &[usize], &[usize])| Function {
            name: name.to_string(),
            is_kernel: *name == "kernel",
            checks: *checks,
            never_returns: *name == "panic",
            variables: 8,
            is_text: *name == "fmt",
            direct: direct.to_vec(),
            indirect: indirect.to_vec(),
        };
        Calls { functions: functions.iter().map(function).collect() }
    }

    fn frames(frames: &[(&str, u32)]) -> Frames {
        frames.iter().map(|(name, bytes)| (name.to_string(), *bytes)).collect()
    }

    #[test]
    fn without_recursion_the_longest_way_counts() {
        let calls = calls(&[
            ("kernel", false, &[1, 2], &[]),
            ("a", false, &[3], &[]),
            ("b", false, &[], &[3]),
            ("c", false, &[], &[]),
        ]);
        let frames = frames(&[("kernel", 16), ("a", 100), ("b", 200), ("c", 1000)]);
        assert_eq!(calls.need("kernel", &frames), Need { stack: 1216, recursion: None });
        assert_eq!(calls.need("missing", &frames), Need::default());
    }

    #[test]
    fn recursion_needs_a_turn_and_a_reserve() {
        // odd checks; even calls a leaf with a large frame.
        let calls = calls(&[
            ("kernel", false, &[1], &[]),
            ("odd", true, &[2], &[]),
            ("even", false, &[1, 3], &[]),
            ("leaf", false, &[], &[]),
            ("elsewhere", true, &[4], &[]),
        ]);
        let frames = frames(&[("kernel", 16), ("odd", 100), ("even", 32), ("leaf", 2000), ("elsewhere", 9000)]);
        // From odd: even and the leaf, or even and odd again.
        let recursion = Some(Recursion { level: 132, reserve: 2032 });
        assert_eq!(calls.need("kernel", &frames), Need { stack: 16 + 100 + 32 + 2000, recursion });
        assert_eq!(calls.reserve_of_variables(), 2 * (8 + SAVED));
    }

    #[test]
    fn text_is_made_by_whoever_reaches_what_formats() {
        let text = |direct: &[usize]| {
            calls(&[("kernel", false, direct, &[]), ("panic", false, &[], &[2]), ("fmt", true, &[1], &[2])])
                .makes_text("kernel")
        };
        assert!(text(&[1]) && text(&[2]) && !text(&[]));
    }

    #[test]
    fn circles_through_pointers_and_panics_add_no_level() {
        let frames = frames(&[("fmt", 50), ("panic", 10)]);
        let through_pointer = calls(&[("kernel", false, &[1], &[]), ("fmt", true, &[], &[1])]);
        let recursion = Some(Recursion { level: 0, reserve: 50 });
        assert_eq!(through_pointer.need("kernel", &frames), Need { stack: 50, recursion });
        let through_panic =
            calls(&[("kernel", false, &[1], &[]), ("fmt", true, &[2], &[]), ("panic", false, &[1], &[])]);
        let recursion = Some(Recursion { level: 0, reserve: 60 });
        assert_eq!(through_panic.need("kernel", &frames), Need { stack: 60, recursion });
    }
}
