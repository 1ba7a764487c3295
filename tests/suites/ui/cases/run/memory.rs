//! Cache operators, hints, address spaces and copies in the background change no result.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run: 1 8
//@ expect: 30 1 0x30201 2 0x40400000 6 77 15
#![no_std]
use ptx::prelude::*;
use ptx::vec::{Float4, UInt4};
use ptx::{Constant, Global, Shared, memory};

#[ptx::global]
static DATA: Global<[UInt4; 4]> = Global::new([
    UInt4::new(1, 2, 3, 4),
    UInt4::new(5, 6, 7, 8),
    UInt4::new(0x30201, 0, 0, 0),
    UInt4::new(0, 0, 0, 0),
]);

#[ptx::global]
static WRITTEN: Global<[UInt4; 16]> = Global::new([UInt4::splat(0); 16]);

#[ptx::constant]
static LIMIT: Constant<u32> = Constant::new(77);

#[ptx::shared]
static TILE: Shared<[UInt4; 8]>;

/// Every load of the same value.
unsafe fn all<T: Copy>(from: *const T) -> [T; 10] {
    unsafe {
        [
            memory::load_nc(from),
            memory::load_ca(from),
            memory::load_cg(from),
            memory::load_cs(from),
            memory::load_lu(from),
            memory::load_cv(from),
            memory::load_l1_evict_first(from),
            memory::load_l1_evict_last(from),
            memory::load_l1_no_allocate(from),
            memory::load_l2_256(from),
        ]
    }
}

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let t = thread::thread_idx_x();
    let data = DATA.as_ptr().cast::<UInt4>();
    // SAFETY: nobody writes `DATA`, each thread has its own two elements of `WRITTEN` and its own of `TILE`.
    let result = unsafe {
        memory::prefetch_l1(data);
        memory::prefetch_l2(data);
        let own = WRITTEN.as_ptr().cast::<UInt4>().add(2 * t as usize);
        match t {
            0 => all(data.cast::<u32>().add(2)).into_iter().sum(),
            1 => all(data.cast::<u8>()).into_iter().map(u32::from).product(),
            2 => {
                let wide = all(data.add(2)).map(|vector| vector.x);
                if wide == [wide[0]; 10] { wide[0] } else { 0 }
            }
            3 => {
                memory::store_wb(own.cast::<u16>(), 1_u16);
                memory::store_cg(own.cast::<u16>().add(1), 1_u16);
                let both = own.cast::<u32>().read_volatile();
                both.count_ones()
            }
            4 => {
                memory::store_cs(own.cast::<Float4>(), Float4::new(0.0, 1.0, 2.0, 3.0));
                memory::store_l1_no_allocate(own.cast::<u64>().add(2), u64::MAX);
                memory::load_cv(own.cast::<Float4>()).w.to_bits()
            }
            5 => {
                memory::copy_async(TILE.as_ptr().cast::<UInt4>().add(5), data.add(1));
                memory::copy_async_commit();
                memory::copy_async_wait::<0>();
                TILE.read(5).y
            }
            6 => *LIMIT,
            _ => {
                memory::store_wt(own.cast::<u8>(), 1_u8);
                let local = t;
                u32::from(memory::is_global(own))
                    + 2 * u32::from(memory::is_shared(TILE.as_ptr()))
                    + 4 * u32::from(memory::is_local(&raw const local))
                    + 8 * u32::from(memory::is_constant(LIMIT.as_ptr()) && !memory::is_shared(own))
            }
        }
    };
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = result;
    }
}
