//! Two functions of one name: two exports, and an export and a kernel.
#![no_std]

mod first {
    use ptx::prelude::*;

    #[device(export)]
    pub fn scale(value: f32) -> f32 {
        value
    }

    #[kernel]
    pub fn run(value: f32) {}
}

mod second {
    use ptx::prelude::*;

    #[device(export)]
    pub fn scale(value: f64) -> f64 { //~ ERROR: two exported functions are named `scale`
        value
    }

    #[device(export)]
    pub fn run(value: f32) -> f32 { //~ ERROR: both named `run`
        value
    }
}
