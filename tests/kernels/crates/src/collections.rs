//! Collections: vectors, maps and sets.

use alloc::vec::Vec;

use crate::data::{Digest, Fixed, Random};

#[inline(never)]
pub fn arrayvec(random: &mut Random, digest: &mut Digest) {
    use arrayvec::{ArrayString, ArrayVec};

    let mut numbers = ArrayVec::<u32, 12>::new();
    for number in random.numbers(20, 100) {
        if let Err(full) = numbers.try_push(number) {
            numbers.remove(full.element() as usize % 12);
        }
    }
    numbers.retain(|number| *number % 7 != 0);
    digest.add(&numbers);
    digest.add(numbers.drain(1..3).sum::<u32>());
    let mut text = ArrayString::<16>::new();
    for word in random.text(5).split(' ') {
        digest.add(text.try_push_str(word).is_ok());
    }
    digest.add(text.as_str());
}

#[inline(never)]
pub fn bitvec(random: &mut Random, digest: &mut Digest) {
    use bitvec::field::BitField;
    use bitvec::prelude::{BitArray, BitVec, Lsb0, Msb0, bitvec};

    let mut bits: BitVec<u8, Msb0> = BitVec::from_vec(random.bytes(12));
    bits[3..33].store_be::<u32>(random.word() as u32);
    digest.add(bits[9..50].load_le::<u64>());
    bits.rotate_left(13);
    digest.add(bits.iter_ones().map(|at| at as u64).fold(0, |sum: u64, at| (sum * 3) ^ at));
    bits.truncate(77);
    bits.push(true);
    digest.add(bits.count_zeros());
    let mut words = BitArray::<[u32; 3], Lsb0>::new([random.word() as u32, 5, 6]);
    words[20..60].reverse();
    digest.add(words.into_inner());
    let set = bitvec![usize, Lsb0; 0, 1, 1];
    digest.add(set.repeat(5).leading_zeros());
}

#[inline(never)]
pub fn fixedbitset(random: &mut Random, digest: &mut Digest) {
    let [mut a, mut b] = [fixedbitset::FixedBitSet::with_capacity(200), fixedbitset::FixedBitSet::with_capacity(150)];
    for _ in 0..60 {
        a.insert(random.below(200));
        b.toggle(random.below(150));
    }
    a.insert_range(20..27);
    digest.add(a.intersection(&b).collect::<Vec<_>>());
    a.symmetric_difference_with(&b);
    digest.add(a.count_ones(10..180));
    digest.add(a.is_superset(&b));
    digest.add(a.zeroes().sum::<usize>());
}

#[inline(never)]
pub fn hashbrown(random: &mut Random, digest: &mut Digest) {
    let mut map = hashbrown::HashMap::with_hasher(Fixed);
    for number in random.numbers(150, 60) {
        *map.entry(number).or_insert(0) += number + 1;
        if number % 5 == 0 {
            digest.add(map.remove(&(number / 2)));
        }
    }
    map.retain(|key, _| key % 3 != 0);
    digest.add(map.len());
    // In an order of its own, which depends on how many slots the CPU compares at once.
    let mut pairs: Vec<_> = map.into_iter().collect();
    pairs.sort_unstable();
    digest.add(pairs);
    let set: hashbrown::HashSet<u32, Fixed> = random.numbers(40, 30).into_iter().collect();
    digest.add((0..30).filter(|number| set.contains(number)).sum::<u32>());
}

#[inline(never)]
pub fn heapless(random: &mut Random, digest: &mut Digest) {
    use heapless::binary_heap::Min;
    use heapless::{BinaryHeap, Deque, String, Vec};

    let mut heap = BinaryHeap::<u32, Min, 16>::new();
    let mut queue = Deque::<u32, 8>::new();
    for number in random.numbers(30, 1000) {
        if heap.push(number).is_err() {
            digest.add(heap.pop());
        }
        if queue.push_back(number).is_err() {
            digest.add(queue.pop_front());
        }
    }
    let sorted: Vec<u32, 16> = core::iter::from_fn(|| heap.pop()).collect();
    digest.add(&sorted[..]);
    let mut text = String::<12>::new();
    for character in random.text(6).chars() {
        digest.add(text.push(character).is_ok());
    }
    digest.add(text.as_str());
}

#[inline(never)]
pub fn indexmap(random: &mut Random, digest: &mut Digest) {
    let mut map = indexmap::IndexMap::with_hasher(Fixed);
    for number in random.numbers(60, 40) {
        *map.entry(number).or_insert(0) += 1;
        if number % 7 == 0 {
            digest.add(map.swap_remove(&(number / 2)));
        }
        if number % 11 == 0 {
            digest.add(map.shift_remove(&(number / 3)));
        }
    }
    digest.add(map.iter().collect::<Vec<_>>());
    map.sort_by(|a, a_count, b, b_count| a_count.cmp(b_count).then(b.cmp(a)));
    digest.add(map.get_index_of(&3));
    digest.add(map.into_iter().collect::<Vec<_>>());
}

#[inline(never)]
pub fn slab(random: &mut Random, digest: &mut Digest) {
    let mut slab = slab::Slab::new();
    let mut keys = Vec::new();
    for number in random.numbers(50, 500) {
        keys.push(slab.insert(number));
        if number % 3 == 0 {
            digest.add(slab.try_remove(keys[number as usize % keys.len()]));
        }
    }
    digest.add(slab.iter().collect::<Vec<_>>());
    slab.retain(|_, number| *number % 2 == 0);
    digest.add((slab.len(), slab.vacant_key()));
}

#[inline(never)]
pub fn slotmap(random: &mut Random, digest: &mut Digest) {
    use slotmap::{Key, SecondaryMap, SlotMap};

    let mut map = SlotMap::new();
    let mut names = SecondaryMap::new();
    let mut keys = Vec::new();
    for number in random.numbers(50, 500) {
        let key = map.insert(number);
        names.insert(key, number ^ 0x55);
        keys.push(key);
        if number % 3 == 0 {
            digest.add(map.remove(keys[number as usize % keys.len()]));
        }
    }
    for key in keys {
        digest.add((map.get(key), names.get(key), key.data().as_ffi()));
    }
}

#[inline(never)]
pub fn smallvec(random: &mut Random, digest: &mut Digest) {
    let mut numbers = smallvec::SmallVec::<[u32; 6]>::new();
    for number in random.numbers(20, 100) {
        numbers.insert(number as usize % (numbers.len() + 1), number);
        if number % 4 == 0 {
            digest.add(numbers.swap_remove(number as usize % numbers.len()));
        }
        digest.add(numbers.spilled());
    }
    numbers.sort_unstable();
    numbers.dedup();
    digest.add(&numbers);
    numbers.truncate(4);
    numbers.shrink_to_fit();
    digest.add((numbers.spilled(), numbers.into_vec()));
}

#[inline(never)]
pub fn tinyvec(random: &mut Random, digest: &mut Digest) {
    let mut numbers = tinyvec::TinyVec::<[u16; 8]>::new();
    for number in random.numbers(20, 100) {
        numbers.push(number as u16);
        if number % 3 == 0 {
            digest.add(numbers.pop());
        }
        digest.add(numbers.is_heap());
    }
    digest.add(&numbers[..]);
    let mut fixed = tinyvec::ArrayVec::<[u32; 10]>::from_iter(random.numbers(10, 1000));
    fixed.retain(|number| number % 3 != 0);
    digest.add(fixed.drain(..fixed.len() / 2).sum::<u32>());
    digest.add(fixed.as_slice());
}
