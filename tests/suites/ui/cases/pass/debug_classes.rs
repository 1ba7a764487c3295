//! The address class of every kind of variable: 4 constant, 5 global, 6 local, 7 parameter, 8 shared; 12 is what pointers
//! point to.
//@ debug: full
#![no_std]
use ptx::Shared;
use ptx::prelude::*;

#[ptx::constant]
static WEIGHTS: [f32; 4] = [0.5, 1.5, 2.5, 3.5];

static NAMES: [u8; 3] = [7, 8, 9];

#[ptx::shared]
static TILE: Shared<[u32; 16]>;

// DWARF-DAG: variable WEIGHTS: [f32; 4], line 9, class 4, address
// DWARF-DAG: variable NAMES: [u8; 3], line 11, class 5, address
// DWARF-DAG: variable TILE: {{.*}}, line 14, class 8, address
// DWARF-DAG: formal_parameter out: *f32, line 24, class 7, address
// DWARF-DAG: formal_parameter out: *f32, line 24, class 6, frame
// DWARF-DAG: variable sum: f32, line 25, class 6, frame
// DWARF-DAG: pointer_type *mut f32: f32, class 12
#[kernel]
pub unsafe fn case(i: usize, out: *mut f32) {
    let sum = WEIGHTS[i % 4] + f32::from(NAMES[i % 3]);
    unsafe {
        TILE.write(i % 16, 1);
        *out = sum + TILE.read(0) as f32;
    }
}
