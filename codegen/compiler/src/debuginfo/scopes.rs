//! Blocks in an order in which the code of each scope is in one piece.
//!
//! DWARF 2 has one range a scope, so LLVM describes a scope whose code is in several pieces by all from the first to the
//! last, and in what lies between cuda-gdb takes one scope for the other: variables that are alive are not found. rustc
//! writes blocks as the control flow reaches them: what follows a loop before its body, panics behind everything. Where
//! code is not optimised, machine code keeps the order that they have here.

use crate::llvm::{self, Module, Scopes};

/// Orders the blocks of every function that has debug information.
pub fn join(module: &Module<'_>) {
    for function in llvm::functions(module).filter(|function| function.get_subprogram().is_some()) {
        let order = llvm::scopes_of_blocks(function).order();
        llvm::order_blocks(function, &order);
    }
}

impl Scopes {
    /// The numbers of the blocks, scope by scope: within each, its own blocks and the scopes in it as they begin.
    fn order(&self) -> Vec<usize> {
        let mut first = vec![usize::MAX; self.parents.len()];
        for (block, scopes) in self.blocks.iter().enumerate() {
            for scope in scopes.iter().flat_map(|scope| self.path(*scope)) {
                first[scope] = first[scope].min(block);
            }
        }
        let mut keys: Vec<Vec<(usize, usize)>> = Vec::new();
        for (block, scopes) in self.blocks.iter().enumerate() {
            let mut paths = scopes.iter().map(|scope| self.path(*scope));
            let begin = paths.next().unwrap_or_default();
            let shared = |common: usize, path: Vec<usize>| {
                begin[..common].iter().zip(path).take_while(|(scope, other)| *scope == other).count()
            };
            let common = paths.fold(begin.len(), shared);
            let key_of = |scopes: &[usize]| scopes.iter().map(|scope| (first[*scope], scope + 1)).collect::<Vec<_>>();
            let key = match begin.get(common) {
                // It belongs to nothing, and goes where the one before it is.
                _ if scopes.is_empty() => keys.last().map(|key| key[..key.len() - 1].to_vec()).unwrap_or_default(),
                // It leaves a scope, and stands behind all of that.
                Some(left) if first[*left] < block => [key_of(&begin[..=common]), vec![(usize::MAX, 0)]].concat(),
                _ => key_of(&begin[..common]),
            };
            // A block stands before the scopes that begin in it.
            keys.push([key, vec![(block, 0)]].concat());
        }
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by(|a, b| keys[*a].cmp(&keys[*b]));
        order
    }

    /// A scope and those around it, from the function inwards.
    fn path(&self, scope: usize) -> Vec<usize> {
        let mut path: Vec<usize> = std::iter::successors(Some(scope), |scope| self.parents[*scope]).collect();
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(parents: &[Option<usize>], blocks: &[&[usize]], expected: &[usize]) {
        let blocks = blocks.iter().map(|scopes| scopes.to_vec()).collect();
        assert_eq!(Scopes { parents: parents.to_vec(), blocks }.order(), expected);
    }

    #[test]
    fn what_follows_a_loop_stands_behind_its_body() {
        // Function 0, scope 1 of the loop, scope 2 behind it.
        check(&[None, Some(0), Some(0)], &[&[0], &[1], &[0, 2], &[1], &[2]], &[0, 1, 3, 2, 4]);
    }

    #[test]
    fn panics_stand_in_their_scopes() {
        check(&[None, Some(0), Some(1), Some(0)], &[&[0, 1], &[2], &[3], &[0], &[2], &[1]], &[0, 1, 4, 5, 2, 3]);
    }

    #[test]
    fn the_first_block_stays() {
        check(&[None, Some(0), Some(1)], &[&[2], &[1], &[0], &[2]], &[0, 3, 1, 2]);
        check(&[None, Some(0), Some(0)], &[&[1, 2], &[1], &[2], &[1]], &[0, 1, 3, 2]);
    }

    #[test]
    fn a_block_that_leaves_a_scope_follows_it() {
        check(&[None, Some(0), Some(0), Some(0)], &[&[0], &[1], &[2], &[2], &[1, 3]], &[0, 1, 4, 2, 3]);
    }

    #[test]
    fn blocks_of_no_scope_stay_with_the_one_before() {
        check(&[None, Some(0), Some(0)], &[&[0], &[1], &[2], &[], &[1]], &[0, 1, 4, 2, 3]);
        check(&[], &[&[], &[]], &[0, 1]);
    }
}
