//! What the threads of a warp do together, and integers and bits, which the CPU computes with the same functions.

use ptx::bits::{self, simd};
use ptx::cooperative::{self, Coalesced, Group as _, WarpGroup as _};
use ptx::prelude::*;
use ptx::warp;

/// Sixteen bytes without padding.
#[derive(Clone, Copy, PartialEq, Debug, AbiType)]
#[repr(C)]
pub struct Quad {
    pub a: u64,
    pub b: u32,
    pub c: [u16; 2],
}

// SAFETY: numbers, without padding.
unsafe impl ptx::Plain for Quad {}

/// Of a number, for a struct of its own in every lane.
pub fn quad(value: u64) -> Quad {
    Quad { a: !value, b: value as u32 ^ 5, c: [value as u16, (value >> 32) as u16] }
}

/// A struct as a number.
pub fn folded(quad: Quad) -> u64 {
    quad.a ^ u64::from(quad.b) << 7 ^ u64::from(quad.c[0]) << 40 ^ u64::from(quad.c[1])
}

pub const SHUFFLES: usize = 9;

#[kernel]
pub fn shuffles(values: &[u64], places: &[u32], mut out: DisjointSlice<[u64; SHUFFLES]>) {
    let i = thread::index_1d();
    let value = values.get(i.get()).copied().unwrap_or(0);
    let place = places.get(i.get()).copied().unwrap_or(0) % 32;
    let all = warp::ALL;
    let results = [
        all.shuffle(value, place),
        all.shuffle_up(value, place),
        all.shuffle_down(value, place),
        all.shuffle_xor(value, place),
        all.shuffle(value as u8, place).into(),
        all.shuffle(value as u16, place).into(),
        all.shuffle(f64::from(value as u32), place).to_bits(),
        folded(all.shuffle(quad(value), place)),
        all.shuffle([value as u8, 7, (value >> 8) as u8], place).map(u64::from).iter().sum(),
    ];
    if let Some(out) = out.get_mut(i) {
        *out = results;
    }
}

pub const OF_GROUPS: usize = 22;

/// Every thread with those that have its label, which are in a branch of their own.
#[kernel]
pub fn label_groups(values: &[u32], labels: &[u32], mut out: DisjointSlice<[u32; OF_GROUPS]>) {
    let i = thread::index_1d();
    let value = values.get(i.get()).copied().unwrap_or(0);
    let own = labels.get(i.get()).copied().unwrap_or(0);
    let group = Coalesced::of(warp::ALL.with_equal(own));
    let mut results = [0; OF_GROUPS];
    for label in 0..4 {
        if label == own {
            results = of_group(group, value);
        }
    }
    if let Some(out) = out.get_mut(i) {
        *out = results;
    }
}

fn of_group(group: Coalesced, value: u32) -> [u32; OF_GROUPS] {
    let members = group.members();
    let chosen = group.invoke_one(|| 1).unwrap_or(0);
    [
        members.mask().bits(),
        members.ballot(value & 1 != 0).bits(),
        u32::from(members.all(value & 7 != 0)),
        u32::from(members.any(value & 7 == 0)),
        u32::from(members.uniform(value & 16 == 0)),
        members.match_any(value % 4).bits(),
        u32::from(members.match_all(u64::from(value % 2))),
        group.size(),
        group.rank(),
        group.reduce_add(value),
        group.reduce_min(value as i32) as u32,
        group.reduce_max(value),
        group.reduce_and(value),
        group.reduce_or(value),
        group.reduce_xor(value),
        group.reduce(value, |a, b| a.rotate_left(1).max(b.rotate_left(1)).rotate_right(1)),
        group.inclusive_scan(value, u32::wrapping_add),
        group.exclusive_scan(value, 0, u32::wrapping_add),
        group.shuffle(value, group.size() - 1 - group.rank()),
        group.shuffle_up(value, 2).unwrap_or(77),
        group.partition(value % 3 == 0).reduce_add(1_u32),
        // Added up over the group: one.
        group.reduce_add(chosen),
    ]
}

pub const OF_TILES: usize = 14;

fn of_tile<const N: u32>(value: u32) -> [u32; OF_TILES] {
    let tile = cooperative::tile::<N>();
    tile.sync();
    [
        tile.size(),
        tile.rank(),
        tile.number(),
        tile.count(),
        tile.shuffle(value, N - 1),
        tile.shuffle_xor(value, N / 2),
        tile.shuffle_up(value, 1).unwrap_or(1),
        tile.shuffle_down(value, 3).unwrap_or(3),
        tile.ballot(value & 1 != 0).bits(),
        u32::from(tile.all(value & 3 != 0)),
        tile.reduce_add(value),
        tile.reduce(value, u32::max),
        tile.inclusive_scan(value, u32::wrapping_add),
        tile.exclusive_scan(value, 9, u32::wrapping_add),
    ]
}

macro_rules! tiles {
    ($($name:ident $n:literal)*) => {$(
        #[kernel]
        pub fn $name(values: &[u32], mut out: DisjointSlice<[u32; OF_TILES]>) {
            let i = thread::index_1d();
            let results = of_tile::<$n>(values.get(i.get()).copied().unwrap_or(0));
            if let Some(out) = out.get_mut(i) {
                *out = results;
            }
        }
    )*};
}
tiles! { tiles_1 1 tiles_2 2 tiles_4 4 tiles_8 8 tiles_16 16 tiles_32 32 }

/// How many threads of a block have odd values, whether all do, whether any does.
#[kernel]
pub fn block_votes(values: &[u32], mut out: DisjointSlice<[u32; 3]>) {
    let i = thread::index_1d();
    let is_odd = values.get(i.get()).is_some_and(|value| value & 1 != 0);
    let count = ptx::sync::sync_threads_count(is_odd);
    let all = ptx::sync::sync_threads_and(is_odd);
    let any = ptx::sync::sync_threads_or(is_odd);
    if let Some(out) = out.get_mut(i) {
        *out = [count, u32::from(all), u32::from(any)];
    }
}

pub const OF_BITS: usize = 64;

#[kernel]
pub fn bits_of(operands: &[[u32; 3]], mut out: DisjointSlice<[u32; OF_BITS]>) {
    let i = thread::index_1d();
    if let (Some([a, b, c]), Some(out)) = (operands.get(i.get()).copied(), out.get_mut(i)) {
        *out = words(a, b, c);
    }
}

/// A result of each function on words.
pub fn words(a: u32, b: u32, c: u32) -> [u32; OF_BITS] {
    let (i, j, k) = (a as i32, b as i32, c as i32);
    let (wide, other) = (u64::from(a) << 32 | u64::from(b), u64::from(c) << 32 | u64::from(a));
    [
        bits::ffs(a),
        bits::ffs_64(wide),
        bits::bfind(a),
        bits::bfind_i32(i),
        bits::bfind_u64(wide),
        bits::bfind_i64(wide as i64),
        bits::bfind_shift(a),
        bits::bfind_shift_i32(i),
        bits::bfind_shift_u64(wide),
        bits::bfind_shift_i64(wide as i64),
        bits::bfe(a, b, c),
        bits::bfe(a, b % 40, c % 40),
        bits::bfe_i32(i, b % 40, c % 40) as u32,
        bits::bfe_u64(wide, b % 70, c % 70) as u32,
        (bits::bfe_i64(wide as i64, b % 70, c % 70) >> 20) as u32,
        bits::bfi(a, b, b % 40, c % 40),
        (bits::bfi_u64(wide, other, b % 70, c % 70) >> 16) as u32,
        bits::bmsk_clamp(a % 40, b % 40),
        bits::bmsk_wrap(a, b),
        bits::sign_extend(i, b % 40) as u32,
        bits::sign_extend_wrap(i, b) as u32,
        bits::zero_extend(a, b % 40),
        bits::zero_extend_wrap(a, b),
        bits::fns(a, b % 32, k % 9),
        bits::mulhi(i, j) as u32,
        bits::mulhi_u32(a, b),
        (bits::mulhi_i64(wide as i64, other as i64) >> 8) as u32,
        (bits::mulhi_u64(wide, other) >> 8) as u32,
        bits::mul24(i, j) as u32,
        bits::mul24_u32(a, b),
        bits::mul24_hi(i, j) as u32,
        bits::mul24_hi_u32(a, b),
        bits::mad24(i, j, k) as u32,
        bits::mad24_hi_u32(a, b, c),
        bits::mad_hi(i, j, k) as u32,
        bits::mad_hi_sat(i, j, k) as u32,
        bits::add_sat(i, j) as u32,
        bits::sub_sat(i, j) as u32,
        bits::sad(i, j, c),
        bits::sad_u32(a, b, c),
        bits::sad_i64(wide as i64, other as i64, 3) as u32,
        bits::hadd(i, j) as u32,
        bits::rhadd_u32(a, b),
        bits::dp4a(a, b, k) as u32,
        bits::dp4a_u32(a, b, c),
        bits::dp4a_su(a, b, k) as u32,
        bits::dp4a_us(a, b, k) as u32,
        bits::dp2a_lo(a, b, k) as u32,
        bits::dp2a_hi_u32(a, b, c),
        bits::dp2a_lo_su(a, b, k) as u32,
        bits::dp2a_hi_us(a, b, k) as u32,
        bits::funnel_left(a, b, c),
        bits::funnel_left_clamp(a, b, c % 40),
        bits::funnel_right(a, b, c),
        bits::funnel_right_clamp(a, b, c % 40),
        bits::byte_perm(a, b, c),
        bits::permute_signs(a, b, c),
        bits::permute_forward(a, b, c),
        bits::permute_backward(a, b, c),
        bits::permute_replicate(a, b, c),
        bits::permute_clamp_left(a, b, c),
        bits::permute_clamp_right(a, b, c),
        bits::permute_replicate_half(a, b, c),
        bits::lop3::<0xe8>(a, b, c),
    ]
}

/// Lists functions of two operands, and those of one, on two and on four lanes.
macro_rules! simd {
    ($count:literal: $($two:ident)*; $($one:ident)*) => {
        pub const OF_LANES: usize = $count;

        /// A result of each function on lanes.
        pub fn lanes(a: u32, b: u32) -> [u32; OF_LANES] {
            [$(simd::$two(a, b),)* $(simd::$one(a),)*]
        }
    };
}
simd! {
    80: vadd2 vadd4 vaddss2 vaddss4 vaddus2 vaddus4 vsub2 vsub4 vsubss2 vsubss4 vsubus2 vsubus4 vabsdiffu2 vabsdiffu4
    vabsdiffs2 vabsdiffs4 vsadu2 vsadu4 vsads2 vsads4 vavgu2 vavgu4 vhaddu2 vhaddu4 vmaxs2 vmaxs4 vmaxu2 vmaxu4 vmins2
    vmins4 vminu2 vminu4 vcmpeq2 vcmpeq4 vcmpne2 vcmpne4 vcmpgts2 vcmpgts4 vcmpgtu2 vcmpgtu4 vcmpges2 vcmpges4 vcmpgeu2
    vcmpgeu4 vcmplts2 vcmplts4 vcmpltu2 vcmpltu4 vcmples2 vcmples4 vcmpleu2 vcmpleu4 vseteq2 vseteq4 vsetne2 vsetne4
    vsetgts2 vsetgts4 vsetgtu2 vsetgtu4 vsetges2 vsetges4 vsetgeu2 vsetgeu4 vsetlts2 vsetlts4 vsetltu2 vsetltu4
    vsetles2 vsetles4 vsetleu2 vsetleu4; vneg2 vneg4 vnegss2 vnegss4 vabs2 vabs4 vabsss2 vabsss4
}

#[kernel]
pub fn lanes_of(operands: &[[u32; 3]], mut out: DisjointSlice<[u32; OF_LANES]>) {
    let i = thread::index_1d();
    if let (Some([a, b, _]), Some(out)) = (operands.get(i.get()).copied(), out.get_mut(i)) {
        *out = lanes(a, b);
    }
}
