//! What a launch costs beside the driver's own work: one call of the driver, and nothing of the heap; and which context it is in.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use ptx::Plane;
use ptx::prelude::*;

use crate::driver::{device, driver, module_of};

#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += a * x[i.get()];
    }
}

/// The heap, with a count of what this thread allocates.
struct Counting;

thread_local! { static ALLOCATIONS: Cell<u64> = const { Cell::new(0) }; }

// SAFETY: the system's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(address, layout) }
    }
}

#[global_allocator]
static HEAP: Counting = Counting;

/// Every class of parameter.
#[kernel]
pub fn all(a: u8, first: &u32, x: &[f32], mut plane: ptx::Disjoint2d<f32>, b: f64) {
    if let Some(element) = plane.get_mut(thread::index_2d()) {
        *element = x[0] + f32::from(a) + *first as f32 + b as f32;
    }
}

#[test]
fn a_launch_calls_the_driver_once_and_allocates_nothing() {
    let driver = driver();
    let device = device(&driver);
    let x = device.upload(&[1.0_f32; 32]).unwrap();
    let mut y = device.zeroed::<f32>(32).unwrap();
    let module = module_of(&device, &saxpy(1.0, &x, &mut y));
    let grid = Grid::new(1, 32);
    // The first launch looks the kernel up.
    saxpy(1.0, &x, &mut y).launch(&module, grid).unwrap();
    let cost = |launches: &mut dyn FnMut()| {
        let calls = driver.all_calls();
        let allocations = ALLOCATIONS.get();
        launches();
        let allocated = ALLOCATIONS.get() - allocations;
        (driver.all_calls() - calls, allocated)
    };
    assert_eq!(cost(&mut || (0..10).for_each(|_| saxpy(1.0, &x, &mut y).launch(&module, grid).unwrap())), (10, 0));
    // The device is asked for the block once.
    saxpy(1.0, &x, &mut y).launch(&module, Grid::items(32)).unwrap();
    let items = &mut || (0..10).for_each(|_| saxpy(1.0, &x, &mut y).launch(&module, Grid::items(32)).unwrap());
    assert_eq!(cost(items), (10, 0));
    let (calls, launches) = (driver.calls("cuLaunchKernel"), driver.launches());
    let mut prepared = saxpy(1.0, &x, &mut y).prepare(&module, grid).unwrap();
    assert_eq!(cost(&mut || (0..10).for_each(|_| prepared.launch().unwrap())), (10, 0));
    assert_eq!((driver.calls("cuLaunchKernel") - calls, driver.launches() - launches), (10, 10));
    drop(prepared);

    let first = device.zeroed::<u32>(1).unwrap();
    let module = module_of(&device, &all(1, &first, &x, Plane::new(&mut y, 8, 4), 2.0));
    let mut launch = || all(1, &first, &x, Plane::new(&mut y, 8, 4), 2.0).launch(&module, grid).unwrap();
    launch();
    assert_eq!(cost(&mut || (0..10).for_each(|_| launch())), (10, 0));
}

/// The driver says which context is current only if it refuses a launch: one of a thread that has none, and one while another
/// library's is current. What is wrong with the launch itself is said as ever.
#[test]
fn a_launch_finds_its_context() {
    let driver = driver();
    let (device, other) = (device(&driver), Device::open(1).unwrap());
    let x = device.upload(&[1.0_f32; 32]).unwrap();
    let mut y = device.zeroed::<f32>(32).unwrap();
    let module = module_of(&device, &saxpy(1.0, &x, &mut y));
    let grid = Grid::new(1, 32);
    saxpy(1.0, &x, &mut y).launch(&module, grid).unwrap();
    let mut round = |is_prepared: bool| {
        let (launches, gets) = (driver.launches(), driver.calls("cuCtxGetCurrent"));
        if is_prepared {
            let mut prepared = saxpy(1.0, &x, &mut y).prepare(&module, grid).unwrap();
            other.context().bind_to_thread().unwrap();
            prepared.launch().unwrap();
            prepared.launch().unwrap();
        } else {
            other.context().bind_to_thread().unwrap();
            saxpy(1.0, &x, &mut y).launch(&module, grid).unwrap();
            saxpy(1.0, &x, &mut y).launch(&module, grid).unwrap();
        }
        assert_eq!(driver.launches() - launches, 2);
        assert!(driver.calls("cuCtxGetCurrent") - gets >= 2);
        other.context().bind_to_thread().unwrap();
        driver.fail("cuLaunchKernel", 400);
        driver.fail("cuLaunchKernel", 700);
        let error = saxpy(1.0, &x, &mut y).launch(&module, grid).unwrap_err();
        assert!(matches!(error, ptx::Error::ContextLost { .. }), "{error}");
    };
    round(false);
    round(true);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            round(false);
            round(true);
        });
    });
}

/// What the short way of a launch finds wrong, the long way says.
#[test]
fn a_wrong_launch_of_a_known_kernel_says_what_is_wrong() {
    let driver = driver();
    let (device, other) = (device(&driver), Device::open(1).unwrap());
    let x = device.upload(&[1.0_f32; 32]).unwrap();
    let (first, empty) = (device.zeroed::<u32>(1).unwrap(), device.zeroed::<u32>(1).unwrap());
    let mut y = device.zeroed::<f32>(32).unwrap();
    let module = module_of(&device, &all(1, &first, &x, Plane::new(&mut y, 8, 4), 2.0));
    let grid = Grid::new(1, (8, 4));
    all(1, &first, &x, Plane::new(&mut y, 8, 4), 2.0).launch(&module, grid).unwrap();
    let launched = driver.launches();
    let says = |result: ptx::Result<()>, part: &str| {
        let text = result.unwrap_err().to_string();
        assert!(text.contains(part), "{text}");
    };
    let none = empty.slice(..0);
    says(all(1, &none, &x, Plane::new(&mut y, 8, 4), 2.0).launch(&module, grid), "`first`");
    says(all(1, &first, &x, Plane::new(&mut y, 8, 5), 2.0).launch(&module, grid), "8 by 5 has 40 elements");
    says(all(1, &first, &x, Plane::new(&mut y, 8, 4), 2.0).launch(&module, Grid::new(0, 32)), "must be at least 1");
    says(all(1, &first, &x, Plane::new(&mut y, 8, 4), 2.0).launch(&module, Grid::new(1, 1025)), "1025");
    let large = Grid::new(1, 32).shared_bytes(1 << 20);
    says(all(1, &first, &x, Plane::new(&mut y, 8, 4), 2.0).launch(&module, large), "dynamic shared memory");
    let far = other.upload(&[1.0_f32; 32]).unwrap();
    says(all(1, &first, &far, Plane::new(&mut y, 8, 4), 2.0).launch(&module, grid), "the memory for parameter `x`");
    let stream = other.stream();
    says(all(1, &first, &x, Plane::new(&mut y, 8, 4), 2.0).launch_on(&module, stream, grid), "the stream");
    assert_eq!(driver.launches(), launched, "nothing of this was started");
    // More shared memory than usual is allowed first.
    let raised = driver.calls("cuFuncSetAttribute");
    all(1, &first, &x, Plane::new(&mut y, 8, 4), 2.0).launch(&module, grid.shared_bytes(100 << 10)).unwrap();
    assert_eq!((driver.calls("cuFuncSetAttribute") - raised, driver.launches() - launched), (1, 1));
}

/// A second stream that reads is joined with the first, so that what writes next waits for both.
#[test]
fn readers_on_several_streams_are_joined() {
    let driver = driver();
    let device = device(&driver);
    let (first, second) = (device.new_stream().unwrap(), device.new_stream().unwrap());
    let x = device.upload(&[1.0_f32; 32]).unwrap();
    let (mut y, mut z) = (device.zeroed::<f32>(32).unwrap(), device.zeroed::<f32>(32).unwrap());
    let module = module_of(&device, &saxpy(1.0, &x, &mut y));
    let grid = Grid::new(1, 32);
    let mut events = |stream: &ptx::CudaStream, is_y: bool| {
        let out = if is_y { &mut y } else { &mut z };
        let before = (driver.calls("cuStreamWaitEvent"), driver.calls("cuEventRecord"));
        saxpy(1.0, &x, out).launch_on(&module, stream, grid).unwrap();
        (driver.calls("cuStreamWaitEvent") - before.0, driver.calls("cuEventRecord") - before.1)
    };
    // It waits for who wrote `x`, and who used `y`; it records both.
    assert_eq!(events(&first, true), (3, 2));
    assert_eq!(events(&first, true), (3, 2));
    // The joining stream waits for both readers, and records for them.
    assert_eq!(events(&second, false), (5, 3));
    assert_eq!(events(&first, true), (5, 3));
    // Another buffer has one reader.
    let (a, mut b) = (device.zeroed::<f32>(32).unwrap(), device.zeroed::<f32>(32).unwrap());
    let before = driver.calls("cuEventRecord");
    saxpy(1.0, &a, &mut b).launch_on(&module, &second, grid).unwrap();
    assert_eq!(driver.calls("cuEventRecord") - before, 2);
}
