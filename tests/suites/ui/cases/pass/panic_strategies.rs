//! What a panic leaves is chosen for the build: its place and what the message is made of, the place, or nothing.
//@revisions: full location trap
//@[location] link-arg: --panic=location
//@[trap] link-arg: --panic=trap
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry gather(
// CHECK(full): ld.const.u64 {{.*}}, [__ptx_panic];
// CHECK(full): st.volatile.global.v2.u32 [{{.*}}+16], {0x
// CHECK(full): st.volatile.global.u64 [{{.*}}+32],
// CHECK-NOT(full): st.volatile.global.u32 [{{.*}}+40],
// CHECK(full): .pragma "nounroll";
// CHECK(full): mov.u32 %i, %ctaid.x;
// CHECK(full): mov.u32 %i, %tid.x;
// CHECK(full): mov.u32 %j, %tid.z;
// CHECK(full): trap;
// CHECK-NOT(full): call
// CHECK(location): ld.const.u64 {{.*}}, [__ptx_panic];
// CHECK(location): st.volatile.global.u32 [{{.*}}+16],
// CHECK(location): mov.u32 %i, %ctaid.x;
// CHECK(location): mov.u32 %i, %tid.z;
// CHECK(location): trap;
// CHECK(trap): trap;
// CHECK-NOT(trap): __ptx_panic
#[kernel]
pub fn gather(indices: &[u32], values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = values[indices[i.get()] as usize];
    }
}
