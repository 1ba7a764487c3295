//! The instructions of a warp, computed of what its lanes exchange (PTX ISA, "Parallel Synchronization and Communication
//! Instructions").

use super::exchange::exchange;
use super::thread::lane;

/// `shfl.sync` in one of its modes: the value of the lane that `source` names, and whether there is such a lane.
///
/// `clamp` has the segment's mask in bits 8 to 12, and the limit in bits 0 to 4. `source` gets the caller's lane, `maximum`
/// (the largest lane it may name, for `up` the smallest) and the segment's bits; it says which lane and whether it may be.
#[track_caller]
fn shuffle(mask: u32, value: u32, clamp: u32, source: impl FnOnce(u32, u32, u32) -> (u32, bool)) -> (u32, bool) {
    let own = lane();
    let segment = clamp >> 8 & 0x1f;
    let maximum = own & segment | clamp & 0x1f & !segment;
    let (from, is_there) = source(own, maximum, segment);
    let from = if is_there { from } else { own };
    let values = exchange(mask, value.into());
    // A lane that does not take part has any value: the caller's own, here.
    (values[from as usize].map_or(value, |value| value as u32), is_there)
}

#[track_caller]
pub(crate) fn shfl_idx(mask: u32, value: u32, lane: u32, clamp: u32) -> u32 {
    shuffle(mask, value, clamp, |own, maximum, segment| {
        let from = own & segment | lane & !segment & 0x1f;
        (from, from <= maximum)
    })
    .0
}

#[track_caller]
pub(crate) fn shfl_up(mask: u32, value: u32, delta: u32, clamp: u32) -> (u32, bool) {
    shuffle(mask, value, clamp, |own, maximum, _| {
        let from = own.wrapping_sub(delta & 0x1f);
        (from, from.cast_signed() >= maximum.cast_signed())
    })
}

#[track_caller]
pub(crate) fn shfl_down(mask: u32, value: u32, delta: u32, clamp: u32) -> (u32, bool) {
    shuffle(mask, value, clamp, |own, maximum, _| {
        let from = own + (delta & 0x1f);
        (from, from <= maximum)
    })
}

#[track_caller]
pub(crate) fn shfl_bfly(mask: u32, value: u32, lanes: u32, clamp: u32) -> u32 {
    shuffle(mask, value, clamp, |own, maximum, _| {
        let from = own ^ (lanes & 0x1f);
        (from, from <= maximum)
    })
    .0
}

/// The value, and in bit 32 whether there is such a lane.
pub(crate) fn pair((value, is_there): (u32, bool)) -> u64 {
    u64::from(is_there) << 32 | u64::from(value)
}

/// `vote.sync.ballot`: the lanes for which the condition holds.
#[track_caller]
pub(crate) fn ballot(mask: u32, condition: bool) -> u32 {
    lanes(&exchange(mask, condition.into()), |value| value != 0)
}

/// `vote.sync.all`, of the lanes that have not ended.
#[track_caller]
pub(crate) fn all(mask: u32, condition: bool) -> bool {
    exchange(mask, condition.into()).iter().flatten().all(|value| *value != 0)
}

/// `vote.sync.uni`
#[track_caller]
pub(crate) fn uniform(mask: u32, condition: bool) -> bool {
    exchange(mask, condition.into()).iter().flatten().all(|value| *value == u64::from(condition))
}

/// `match.any.sync`: the lanes with the caller's value.
#[track_caller]
pub(crate) fn match_any(mask: u32, value: u64) -> u32 {
    lanes(&exchange(mask, value), |other| other == value)
}

/// `match.all.sync`: the lanes and bit 32 if all have the same value, else 0.
#[track_caller]
pub(crate) fn match_all(mask: u32, value: u64) -> u64 {
    let values = exchange(mask, value);
    if values.iter().flatten().all(|other| *other == value) { 1 << 32 | u64::from(lanes(&values, |_| true)) } else { 0 }
}

/// `redux.sync`
#[track_caller]
pub(crate) fn reduce(mask: u32, value: u32, operation: impl Fn(u32, u32) -> u32) -> u32 {
    let values = exchange(mask, value.into());
    values.iter().flatten().map(|value| *value as u32).reduce(operation).unwrap_or(value)
}

/// `elect.sync`: the first lane, and in bit 32 whether it is the caller's.
#[track_caller]
pub(crate) fn elect(mask: u32) -> u64 {
    let first = lanes(&exchange(mask, 0), |_| true).trailing_zeros();
    u64::from(first == lane()) << 32 | u64::from(first)
}

/// `%lanemask_lt`
#[track_caller]
pub(crate) fn below() -> u32 {
    (1 << lane()) - 1
}

fn lanes(values: &[Option<u64>; 32], is_among: impl Fn(u64) -> bool) -> u32 {
    (0..32).filter(|lane| values[*lane].is_some_and(&is_among)).fold(0, |lanes, lane| lanes | 1 << lane)
}
