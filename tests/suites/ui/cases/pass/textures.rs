//! Textures and surfaces are handles, and a fetch, a load or a store is one instruction.
#![no_std]
use ptx::prelude::*;
use ptx::texture::{
    Bounds, Surface2d, Surface3d, Texture2d, TextureCubeLayered, TextureGather2d, TextureLinear,
};
use ptx::vec::UChar4;

// CHECK-LABEL: .visible .entry fetch(
// CHECK: .param .u64 fetch_param_0,
// CHECK-NOT: .local
// CHECK: tex.2d.v4.f32.f32 {{.*}}, [{{%rd[0-9]+}}, {{.*}}];
// CHECK-NOT: tex.
// CHECK: tex.level.2d.v4.f32.f32
// CHECK: tex.grad.2d.v4.f32.f32
// CHECK: ret;
#[kernel]
pub fn fetch(texture: Texture2d<f32>, x: f32, mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        // What nobody uses is not fetched, and what is fetched twice is fetched once.
        let _ = texture.fetch(x, x + 5.0);
        *out = texture.fetch(x, 0.5) * texture.fetch(x, 0.5);
        *out += texture.fetch_lod(x, x, 2.0) + texture.fetch_grad(x, x, [x, 0.0], [0.0, x]);
    }
}

// CHECK-LABEL: .visible .entry others(
// CHECK-DAG: tex.acube.v4.s32.f32
// CHECK-DAG: tex.1d.v4.u32.s32
// CHECK-DAG: tld4.b.2d.v4.f32.f32
// CHECK: ret;
#[kernel]
pub fn others(
    cubes: TextureCubeLayered<i16>,
    linear: TextureLinear<UChar4>,
    gathered: TextureGather2d<[f32; 4]>,
    mut out: DisjointSlice<f32>,
) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let a = f32::from(cubes.fetch(3, 1.0, 0.5, -0.5));
        let b = f32::from(linear.get(i.get() as i32).y);
        *out = a + b + gathered.gather::<2>(a, b).iter().sum::<f32>();
    }
}

// CHECK-LABEL: .visible .entry surfaces(
// CHECK: suld.b.2d.v4.b8.clamp
// CHECK: sust.b.2d.v4.b8.trap
// CHECK: suld.b.3d.b32.zero
// CHECK: sust.b.3d.b32.zero
// CHECK: ret;
#[kernel]
pub fn surfaces(plane: Surface2d<UChar4>, volume: Surface3d<f32>, x: i32) {
    let pixel = plane.read(x - 1, 0, Bounds::Clamp);
    plane.write(x, 0, pixel, Bounds::Trap);
    volume.write(x, x, x, volume.read(x, 0, 0, Bounds::Zero), Bounds::Zero);
}
