//! Functions with captured values, as kernels take them.

/// A function with what it has captured, which a kernel can take by value: CUDA C++'s function object.
///
/// Closures and functions of Rust are such functions where they are called in device code. For a parameter of a kernel,
/// [`device_fn!`](../ptx/macro.device_fn.html) makes one: the host's compilation and the device's must agree on its name
/// and on the layout of what it has captured, and a closure's type has neither.
///
/// `Arguments` is a tuple: `F: DeviceFn<(f32,), Output = f32>`, and `f.call((x,))`.
pub trait DeviceFn<Arguments> {
    /// What it returns.
    type Output;

    /// Calls it.
    fn call(&self, arguments: Arguments) -> Self::Output;
}

macro_rules! functions {
    ($([$($argument:ident: $ty:ident),*])*) => {$(
        impl<F, R, $($ty),*> DeviceFn<($($ty,)*)> for F
        where
            F: Fn($($ty),*) -> R,
        {
            type Output = R;

            #[inline(always)]
            fn call(&self, ($($argument,)*): ($($ty,)*)) -> R {
                self($($argument),*)
            }
        }
    )*};
}
functions! {
    []
    [a: A]
    [a: A, b: B]
    [a: A, b: B, c: C]
    [a: A, b: B, c: C, d: D]
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Affine {
        a: f32,
        b: f32,
    }

    // Beside the implementations for closures: `Affine` is none.
    impl DeviceFn<(f32,)> for Affine {
        type Output = f32;
        fn call(&self, (x,): (f32,)) -> f32 {
            self.a * x + self.b
        }
    }

    fn twice(f: impl DeviceFn<(f32,), Output = f32>, x: f32) -> f32 {
        f.call((f.call((x,)),))
    }

    #[test]
    fn closures_and_functions_are_functions() {
        let three = 3.0;
        assert_eq!(twice(|x| x + three, 1.0), 7.0);
        assert_eq!(twice(f32::abs, -1.0), 1.0);
        assert_eq!(twice(Affine { a: 2.0, b: 1.0 }, 1.0), 7.0);
        assert_eq!(DeviceFn::call(&|| 4, ()) + DeviceFn::call(&|a: i32, b: i32| a * b, (2, 3)), 10);
    }
}
