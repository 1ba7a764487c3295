//! Types that C has not, as a debugger finds them: enums, slices, strings, closures, tuples, generics, 128 bits.
//@ debug: full
#![no_std]
use ptx::prelude::*;

#[derive(Clone, Copy)]
pub enum Shape {
    Circle(f32),
    Rect { w: f32, h: f32 },
    Empty,
}

#[derive(Clone, Copy)]
#[repr(u8)]
pub enum Colour {
    Red = 1,
    Blue = 9,
}

struct Wrapper<T> {
    inner: T,
}

#[inline(never)]
fn look<T>(_: &T) {}

// An enum with data: which variant it is, then the variants.
// DWARF-DAG: structure_type Shape, size 12
// DWARF-DAG: member {variant}: {{.*}}, at 0
// DWARF-DAG: member Circle: {{.*}}, at 0
// DWARF-DAG: member Rect: {{.*}}, at 0
// DWARF-DAG: member h: f32{{.*}}, at 8
// DWARF-DAG: enumerator Empty, value 2
// DWARF-DAG: enumeration_type Colour{{.*}}, size 1
// DWARF-DAG: enumerator Blue, value 9
// DWARF-DAG: structure_type Option<&u32>, size 8
// DWARF-DAG: structure_type &[u32], size 16
// DWARF-DAG: member data_ptr: *u32, at 0
// DWARF-DAG: member length: usize, at 8
// DWARF-DAG: structure_type &str, size 16
// DWARF-DAG: structure_type (u8, f32), size 8
// DWARF-DAG: structure_type Wrapper<i16>, size 2
// DWARF-DAG: template_type_parameter T: i16
// DWARF-DAG: member _ref__base: *i32, at 0
// DWARF-DAG: base_type u128, size 16
// DWARF-DAG: variable shape: debug_types::Shape, line {{[0-9]+}}, class 6, frame
// DWARF-DAG: variable add: {{.*}}closure{{.*}}, class 6, frame
// DWARF-DAG: variable wide: u128
#[kernel]
pub unsafe fn case(x: u32, out: *mut i32) {
    let shape = [Shape::Circle(1.0), Shape::Rect { w: 2.0, h: 3.0 }, Shape::Empty][x as usize % 3];
    let colour = if x > 1 { Colour::Red } else { Colour::Blue };
    let option = Some(&x);
    let slice: &[u32] = &[x, 2];
    let text = "text";
    let tuple = (3_u8, 4.5_f32);
    let wrapper = Wrapper { inner: -1_i16 };
    let base = 7;
    let add = |y: i32| y + base;
    let wide = 1_u128 << 100;
    look(&(shape, colour, option, slice));
    look(&(text, tuple, wrapper.inner, wide));
    unsafe { *out = add(x as i32) }
}
