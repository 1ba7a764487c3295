//! Graphs: who dominates whom, and how one comes back to where one was.

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

/// Strongly connected components; each stands after those that it leads to.
///
/// Tarjan, Depth-First Search and Linear Graph Algorithms.
pub fn components(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut components = Vec::new();
    let mut number: Vec<Option<usize>> = vec![None; successors.len()];
    let mut lowest = vec![0; successors.len()];
    let (mut open, mut is_open, mut count) = (Vec::new(), vec![false; successors.len()], 0);
    for root in 0..successors.len() {
        let mut way = if number[root].is_none() { vec![(root, 0)] } else { vec![] };
        while let Some((node, next)) = way.pop() {
            if next == 0 {
                number[node] = Some(count);
                lowest[node] = count;
                count += 1;
                open.push(node);
                is_open[node] = true;
            }
            if let Some(&to) = successors[node].get(next) {
                way.push((node, next + 1));
                match number[to] {
                    None => way.push((to, 0)),
                    Some(number) if is_open[to] => lowest[node] = lowest[node].min(number),
                    Some(_) => {}
                }
                continue;
            }
            if Some(lowest[node]) == number[node] {
                let from = open.iter().rposition(|other| *other == node).unwrap_or(0);
                let component = open.split_off(from);
                component.iter().for_each(|node| is_open[*node] = false);
                components.push(component);
            }
            if let Some(&(before, _)) = way.last() {
                lowest[before] = lowest[before].min(lowest[node]);
            }
        }
    }
    components
}

/// The edges by which a walk in depth from the roots comes back to a node that it has not left: every circle has one.
pub fn back_edges(successors: &[Vec<usize>], roots: impl Iterator<Item = usize>) -> Vec<(usize, usize)> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Entered,
        Left,
    }
    let mut states = vec![State::New; successors.len()];
    let mut edges = Vec::new();
    for root in roots {
        let mut way = if states[root] == State::New { vec![(root, 0)] } else { vec![] };
        states[root] = if way.is_empty() { states[root] } else { State::Entered };
        while let Some((node, next)) = way.pop() {
            let Some(&to) = successors[node].get(next) else {
                states[node] = State::Left;
                continue;
            };
            way.push((node, next + 1));
            match states[to] {
                State::New => {
                    states[to] = State::Entered;
                    way.push((to, 0));
                }
                State::Entered => edges.push((node, to)),
                State::Left => {}
            }
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 → 1 → 2 → 1, 2 → 3 → 3, 4 → 0
    fn graph() -> Vec<Vec<usize>> {
        vec![vec![1], vec![2], vec![1, 3], vec![3], vec![0]]
    }

    #[test]
    fn components_stand_after_those_that_they_lead_to() {
        let mut found = components(&graph());
        found.iter_mut().for_each(|component| component.sort_unstable());
        assert_eq!(found, [vec![3], vec![1, 2], vec![0], vec![4]]);
        assert!(components(&[]).is_empty());
    }

    #[test]
    fn every_circle_has_an_edge_back() {
        assert_eq!(back_edges(&graph(), [0, 4].into_iter()), [(2, 1), (3, 3)]);
        assert_eq!(back_edges(&graph(), [2].into_iter()), [(1, 2), (3, 3)]);
    }
}
