//! A crate from elsewhere.
#![no_std]

#[derive(Clone, Copy)]
pub struct Vector {
    pub x: f32,
    pub y: f32,
}

impl Vector {
    #[inline(never)]
    pub fn dot(self, other: Self) -> f32 {
        let product = self.x * other.x;
        product + self.y * other.y
    }
}

#[inline(never)]
pub fn scaled<T: Into<f32>>(vector: Vector, by: T) -> Vector {
    let by = by.into();
    Vector { x: vector.x * by, y: vector.y * by }
}
