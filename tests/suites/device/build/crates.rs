//! Compiles each group of crates into an image of its own.

use ptx_build::Builder;

#[path = "../../../kernels/crates/src/list.rs"]
#[macro_use]
mod list;

macro_rules! features {
    ($($group:ident $feature:literal { $($function:ident $name:literal $what:literal $note:literal;)* })*) => {
        const GROUPS: &[&str] = &[$($feature),*];
    };
}
for_each_crate!(features);

pub fn build() {
    for group in GROUPS {
        let kernels = Builder::new().kernels("../../kernels/crates").profile("release");
        kernels.no_default_features().features([*group]).name(*group).build();
    }
}
