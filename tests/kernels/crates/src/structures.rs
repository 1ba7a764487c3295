//! Flags, arenas, graphs, locks and iterators.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::data::{Digest, Fixed, Random};

#[inline(never)]
pub fn bitflags(random: &mut Random, digest: &mut Digest) {
    bitflags::bitflags! {
        #[derive(Clone, Copy, PartialEq)]
        struct Flags: u8 {
            const READ = 1;
            const WRITE = 2;
            const ALL = 7;
            const FAST = 64;
        }
    }
    let mut flags = Flags::from_bits_truncate(random.word() as u8);
    for _ in 0..8 {
        let other = Flags::from_bits_retain(random.word() as u8);
        flags ^= other & (Flags::ALL | !Flags::READ);
        flags.set(Flags::WRITE, other.contains(Flags::FAST));
        digest.add((flags.bits(), flags.is_all(), flags.intersects(other), (flags - other).bits()));
        digest.add(flags.iter_names().map(|(name, _)| name).collect::<Vec<_>>());
    }
}

#[inline(never)]
pub fn either(random: &mut Random, digest: &mut Digest) {
    use either::Either;

    for number in random.numbers(10, 100) {
        let either =
            if number % 2 == 0 { Either::Left(0..number) } else { Either::Right((0..number).rev().step_by(3)) };
        digest.add(either.clone().map(|number| number * number).sum::<u32>());
        digest.add(either.as_ref().either(|range| range.len(), |steps| steps.len()));
        let flipped = either.flip();
        digest.add(flipped.is_left());
        digest.add(flipped.last());
    }
}

#[inline(never)]
pub fn itertools(random: &mut Random, digest: &mut Digest) {
    use itertools::{Itertools, MinMaxResult};

    let numbers = random.numbers(24, 20);
    digest.add(numbers.iter().combinations(2).filter(|pair| pair[0] == pair[1]).count());
    digest.add(numbers[..4].iter().permutations(3).map(|three| three[0] * 9 + three[1] * 3 + three[2]).collect_vec());
    digest.add(numbers.iter().tuple_windows().filter(|(a, b, c)| a < b && b < c).count());
    for (key, group) in &numbers.iter().chunk_by(|number| **number / 5) {
        digest.add((key, group.sum::<u32>()));
    }
    digest.add(numbers.iter().sorted_by_key(|number| (**number % 4, **number)).dedup().join(","));
    digest.add(numbers.iter().k_smallest(5).interleave(&[7, 8]).collect_vec());
    digest.add(numbers.iter().cartesian_product(&[3, 9, 11]).map(|(a, b)| a ^ b).sum::<u32>());
    if let MinMaxResult::MinMax(least, most) = numbers.iter().minmax() {
        digest.add((least, most));
    }
    let (even, odd): (Vec<u32>, Vec<u32>) = numbers.into_iter().partition_map(|number| {
        if number % 2 == 0 { itertools::Either::Left(number) } else { itertools::Either::Right(number) }
    });
    digest.add((even, odd));
}

#[inline(never)]
pub fn once_cell(random: &mut Random, digest: &mut Digest) {
    use once_cell::race::{OnceBox, OnceNonZeroUsize};
    use once_cell::unsync::{Lazy, OnceCell};

    let number = random.below(1000);
    let cell = OnceCell::new();
    digest.add((cell.get_or_init(|| number), cell.get_or_init(|| number + 1), cell.set(7)));
    let lazy = Lazy::new(|| random.numbers(5, 10));
    digest.add((lazy.len(), &*lazy));
    let boxed = OnceBox::new();
    digest.add((boxed.set(Box::new(number)).is_ok(), boxed.set(Box::new(0)).is_ok(), boxed.get()));
    let race = OnceNonZeroUsize::new();
    digest.add(race.get_or_init(|| core::num::NonZero::new(number | 1).unwrap()));
}

#[inline(never)]
pub fn petgraph(random: &mut Random, digest: &mut Digest) {
    use petgraph::algo::{connected_components, dijkstra, kosaraju_scc, toposort};
    use petgraph::graph::{DiGraph, NodeIndex};
    use petgraph::graphmap::UnGraphMap;
    use petgraph::visit::Dfs;

    let mut graph = DiGraph::<u32, u32>::new();
    let nodes: Vec<NodeIndex> = (0..16).map(|number| graph.add_node(number)).collect();
    for _ in 0..30 {
        graph.add_edge(nodes[random.below(16)], nodes[random.below(16)], random.below(9) as u32);
    }
    let mut dfs = Dfs::new(&graph, nodes[0]);
    while let Some(node) = dfs.next(&graph) {
        digest.add(node.index());
    }
    let costs = dijkstra(&graph, nodes[0], None, |edge| *edge.weight());
    digest.add(nodes.iter().map(|node| costs.get(node)).collect::<Vec<_>>());
    digest.add(kosaraju_scc(&graph).iter().map(Vec::len).collect::<Vec<_>>());
    digest.add(connected_components(&graph));
    digest.add(toposort(&graph, None).is_ok());
    let pairs = random.numbers(20, 9);
    let map = UnGraphMap::<u32, (), Fixed>::from_edges(pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])));
    digest.add(map.all_edges().map(|(a, b, ())| (a, b)).collect::<Vec<_>>());
}

#[inline(never)]
pub fn spin(random: &mut Random, digest: &mut Digest) {
    let lock = spin::Mutex::new(random.word());
    {
        let mut guard = lock.lock();
        *guard ^= 3;
        digest.add(lock.try_lock().is_none());
    }
    let readers = spin::RwLock::new(random.numbers(5, 10));
    {
        let (one, two) = (readers.read(), readers.read());
        digest.add((&one[..], two.len(), readers.try_write().is_none()));
    }
    readers.write().push(9);
    let once = spin::Once::new();
    digest.add((*once.call_once(|| 5), *once.call_once(|| 6)));
    digest.add((lock.into_inner(), readers.into_inner()));
}

#[inline(never)]
pub fn typed_arena(random: &mut Random, digest: &mut Digest) {
    use core::cell::Cell;

    /// A node of a list that ends in a circle.
    struct Node<'a> {
        number: u32,
        next: Cell<Option<&'a Node<'a>>>,
    }

    let arena = typed_arena::Arena::with_capacity(3);
    let mut nodes: Vec<&Node<'_>> = Vec::new();
    for number in random.numbers(20, 1000) {
        let node = arena.alloc(Node { number, next: Cell::new(nodes.last().copied()) });
        nodes.push(node);
    }
    nodes[0].next.set(Some(nodes[random.below(20)]));
    let mut at = nodes[19];
    for _ in 0..50 {
        digest.add(at.number);
        at = at.next.get().unwrap_or(at);
    }
    let texts = typed_arena::Arena::new();
    texts.alloc_extend((0..5).map(|_| random.text(1)));
    digest.add((arena.len(), texts.into_vec()));
}
