//! The table as a Rust crate and as a `.cu` file, a kernel for every row.

use std::fmt::Write as _;

use super::row::Row;

/// Operands with their types in Rust and in CUDA C++.
const OPERANDS: [(&str, &str, &str); 14] = [
    ("m", "u32", "unsigned"),
    ("u", "u32", "unsigned"),
    ("v", "u32", "unsigned"),
    ("w", "u32", "unsigned"),
    ("i", "i32", "int"),
    ("j", "i32", "int"),
    ("k", "i32", "int"),
    ("l", "i64", "long long"),
    ("n", "i64", "long long"),
    ("q", "u64", "unsigned long long"),
    ("r", "u64", "unsigned long long"),
    ("s", "u64", "unsigned long long"),
    ("f", "f32", "float"),
    ("d", "f64", "double"),
];

fn result(letter: char) -> (&'static str, &'static str) {
    let found = OPERANDS.iter().find(|(name, ..)| name.starts_with(letter));
    found.map_or(("u32", "unsigned"), |(_, rust, cuda)| (rust, cuda))
}

/// Kernels in Rust, the expression in the line below the signature; empty where the GPU lacks the operation if `guarded`.
pub fn rust(rows: &[Row], guarded: bool) -> String {
    let mut text = String::from(
        "#![no_std]\n#![allow(unused, clippy::all)]\nuse ptx::prelude::*;\nuse ptx::atomic::{fence, Atomic, Block, Device, Ordering, System};\n\
         use ptx::cooperative::{self, Group as _, WarpGroup as _};\nuse ptx::warp::{self, LaneMask, Members};\n\
         use ptx::vec::{Double2, Float2, Float4};\nuse ptx::{bits, bits::simd, cluster, control, memory, sync};\n\
         use ptx::mbarrier::{self, Mbarrier, Token};\nuse ptx::memory::{CachePolicy, Evict, Rest};\n\
         use ptx::texture::*;\nuse ptx::{SurfaceObject, TextureObject};\n",
    );
    for row in rows {
        let operands: String = OPERANDS.iter().map(|(name, ty, _)| format!(", {name}: {ty}")).collect();
        let guard =
            if guarded && row.min_sm > 70 { format!("if ptx::arch() >= {}0 ", row.min_sm) } else { String::new() };
        let store = if row.result == '-' { row.rust.clone() } else { format!("*out = {};", row.rust) };
        writeln!(
            text,
            "#[kernel]\npub unsafe fn k_{}(out: *mut {}{operands}) {{\n    {guard}{{ unsafe {{ let m = Members::new_unchecked(LaneMask::from_bits(m)); {store} }} }}\n}}",
            row.name,
            result(row.result).0
        )
        .expect("a string takes everything");
    }
    text
}

/// Kernels in CUDA C++.
pub fn cuda(rows: &[Row]) -> String {
    let mut text = String::from(
        "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n#include <cooperative_groups/scan.h>\n#include <cuda_pipeline.h>\n\
         #include <cuda_awbarrier_primitives.h>\n#include <cuda/ptx>\n\
         namespace cg = cooperative_groups;\n\
         template<unsigned N> static __device__ __forceinline__ cg::thread_block_tile<N> tile() { return cg::tiled_partition<N>(cg::this_thread_block()); }\n\
         #define SHARED(q) ((unsigned)__cvta_generic_to_shared((void*)(q)))\n\
         #define MAPPED(q, v) ({ unsigned r; asm(\"mapa.shared::cluster.u32 %0, %1, %2;\" : \"=r\"(r) : \"r\"(SHARED(q)), \"r\"(v)); r; })\n\
         #define SREG(name) ({ unsigned r; asm volatile(\"mov.u32 %0, %\" name \";\" : \"=r\"(r)); r; })\n\
         #define ASM_(type, constraint, text, ...) ({ type r; asm(text : \"=\" constraint (r) : __VA_ARGS__); r; })\n",
    );
    for row in rows {
        let operands: String = OPERANDS.iter().map(|(name, _, ty)| format!(", {ty} {name}")).collect();
        let store = if row.result == '-' { row.cuda.clone() } else { format!("*out = {};", row.cuda) };
        let ty = result(row.result).1;
        writeln!(text, "extern \"C\" __global__ void k_{}({ty} *out{operands}) {{ {store} }}", row.name)
            .expect("a string takes everything");
    }
    text
}
