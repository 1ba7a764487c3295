//! The global allocator of kernels, on the device's heap: what `Box`, `Vec` and the rest of `alloc` use.
//!
//! `malloc` and `free` are the driver's (PTX Writer's Guide to Interoperability 12.8, chapter 3). The heap's size is a
//! limit of the context, 8 MiB unless the host sets another (`Device::set_heap_size`).

use core::alloc::{GlobalAlloc, Layout};

use crate::syscalls::{free, malloc};

/// The alignment of `malloc` (CUDA C++ Programming Guide, "Dynamic Global Memory Allocation and Operations").
const ALIGN: usize = 16;

struct Heap;

#[global_allocator]
static HEAP: Heap = Heap;

// SAFETY: blocks are `malloc`'s, as large and as aligned as asked; nothing here unwinds. `realloc` and `alloc_zeroed` are
// the trait's own: the driver has no `realloc`, and memory of its heap is not zero.
unsafe impl GlobalAlloc for Heap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= ALIGN { malloc(layout.size()) } else { alloc_aligned(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: `block` came from `alloc` with this layout.
        unsafe { if layout.align() <= ALIGN { free(block) } else { free_aligned(block) } }
    }
}

/// Aligns more than `malloc` does: in a larger block, with `malloc`'s address stored before the one returned.
#[cold]
#[inline(never)]
fn alloc_aligned(layout: Layout) -> *mut u8 {
    // A layout's size, rounded up to its alignment, is at most `isize::MAX`: no overflow.
    let whole = malloc(layout.size() + layout.align());
    if whole.is_null() {
        return whole;
    }
    // At least `ALIGN` bytes lie before it, because `whole` is a multiple of `ALIGN` and this one a later one.
    let offset = layout.align() - whole.addr() % layout.align();
    // SAFETY: inside the block, which is `align` bytes larger than asked; the address before it is aligned for a pointer.
    unsafe {
        let block = whole.add(offset);
        block.cast::<*mut u8>().sub(1).write(whole);
        block
    }
}

/// # Safety
/// `block` came from [`alloc_aligned`] and is freed once.
#[cold]
#[inline(never)]
unsafe fn free_aligned(block: *mut u8) {
    // SAFETY: `alloc_aligned` put `malloc`'s address there.
    unsafe { free(block.cast::<*mut u8>().sub(1).read()) }
}
