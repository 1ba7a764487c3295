//! Who dominates whom in a graph.

/// Of each node, the one that is on every way to it from node 0 and nearest to it, but for itself; node 0 has itself, and
/// what is never reached none.
///
/// Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm.
pub fn dominators(successors: &[Vec<usize>], predecessors: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut order = Vec::new();
    let mut seen = vec![false; successors.len()];
    let mut stack = vec![(0, 0)];
    seen[0] = true;
    while let Some((block, next)) = stack.pop() {
        match successors[block].get(next) {
            Some(&to) => {
                stack.push((block, next + 1));
                if !std::mem::replace(&mut seen[to], true) {
                    stack.push((to, 0));
                }
            }
            None => order.push(block),
        }
    }
    let mut rank = vec![0; successors.len()];
    order.iter().enumerate().for_each(|(number, block)| rank[*block] = number);
    let mut dominators: Vec<Option<usize>> = vec![None; successors.len()];
    dominators[0] = Some(0);
    loop {
        let mut changed = false;
        for &block in order.iter().rev().skip(1) {
            let mut known = predecessors[block].iter().copied().filter(|from| dominators[*from].is_some());
            let Some(first) = known.next() else { continue };
            let common = known.fold(first, |mut a, mut b| {
                while a != b {
                    // What is reached has a dominator by now, of a higher rank.
                    while rank[a] < rank[b] {
                        a = dominators[a].unwrap_or(0);
                    }
                    while rank[b] < rank[a] {
                        b = dominators[b].unwrap_or(0);
                    }
                }
                a
            });
            changed |= dominators[block].replace(common) != Some(common);
        }
        if !changed {
            return dominators;
        }
    }
}
