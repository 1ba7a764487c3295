//! Nothing is left alive, and nothing aborts: contexts and modules by the thousand, memory that is dropped while kernels run, a
//! host that panics between launches, and drops in a lost context.

use ptx::prelude::*;

use crate::driver::{Driver, device, driver, module_of};
use crate::launches::saxpy;

/// What must be as before.
const KINDS: [&str; 5] = ["context", "module", "stream", "event", "memory"];

fn alive(driver: &Driver) -> [u64; KINDS.len()] {
    KINDS.map(|kind| driver.alive(kind))
}

#[test]
fn a_thousand_contexts_and_ten_thousand_modules_leave_nothing() {
    let driver = driver();
    let before = alive(&driver);
    for round in 0..1000 {
        let device = device(&driver);
        let x = device.upload(&[1.0_f32; 32]).unwrap();
        let mut y = device.zeroed::<f32>(32).unwrap();
        if round % 2 == 0 {
            drop(device.new_stream().unwrap());
        }
        for _ in 0..10 {
            let module = module_of(&device, &saxpy(1.0, &x, &mut y));
            saxpy(1.0, &x, &mut y).launch(&module, Grid::new(1, 32)).unwrap();
        }
        // The memory goes after the device, or before it.
        if round % 3 == 0 {
            drop((x, y));
        }
    }
    assert_eq!(alive(&driver), before);
}

#[test]
fn a_host_that_panics_between_launches_leaves_nothing() {
    let driver = driver();
    let before = alive(&driver);
    for threads in [1, 4] {
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let panicking = scope.spawn(|| {
                    let device = device(&driver);
                    let x = device.upload(&[1.0_f32; 32]).unwrap();
                    let mut y = device.zeroed::<f32>(32).unwrap();
                    let module = module_of(&device, &saxpy(1.0, &x, &mut y));
                    let stream = device.new_stream().unwrap();
                    let mut prepared = saxpy(1.0, &x, &mut y).prepare(&module, Grid::new(1, 32)).unwrap();
                    prepared.launch_on(&stream).unwrap();
                    // The grid is wrong, and the host does not look.
                    saxpy(1.0, &x, &mut device.zeroed(32).unwrap()).launch(&module, Grid::new(0, 32)).unwrap();
                });
                assert!(panicking.join().is_err());
            }
        });
    }
    assert_eq!(alive(&driver), before);
}

#[test]
fn drops_in_a_lost_context_do_not_panic() {
    let driver = driver();
    {
        let device = device(&driver);
        let x = device.upload(&[1.0_f32; 32]).unwrap();
        let mut y = device.zeroed::<f32>(32).unwrap();
        let module = module_of(&device, &saxpy(1.0, &x, &mut y));
        let stream = device.new_stream().unwrap();
        saxpy(1.0, &x, &mut y).launch_on(&module, &stream, Grid::new(1, 32)).unwrap();
        driver.lose(700);
        drop((x, stream, y));
        drop(module);
        drop(device);
    }
    driver.lose(0);
}
