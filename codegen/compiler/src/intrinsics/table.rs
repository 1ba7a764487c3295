//! The intrinsics as data: name, what it becomes, what it needs. Rows cite the PTX ISA's chapters.

/// What an intrinsic becomes.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// A call of an LLVM intrinsic, with constants before the caller's arguments.
    Call {
        /// LLVM's name.
        intrinsic: &'static str,
        /// Constants.
        leading: &'static [u64],
    },
    /// The arch's number times ten as a constant, as `__CUDA_ARCH__` has it.
    Arch,
    /// Nothing but the knowledge that the launch has at most so many dimensions, and fewer than 2^32 threads in the first.
    Dimensions(u32),
}

/// One intrinsic.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The symbol in Rust.
    pub name: &'static str,
    /// What it becomes.
    pub body: Body,
    /// The lowest arch.
    pub min_sm: u32,
    /// The lowest PTX ISA version, if it is over that of the arch.
    pub min_ptx: Option<(u8, u8)>,
}

const fn call(name: &'static str, intrinsic: &'static str) -> Row {
    Row { name, body: Body::Call { intrinsic, leading: &[] }, min_sm: 0, min_ptx: None }
}

const fn call_with(name: &'static str, intrinsic: &'static str, leading: &'static [u64]) -> Row {
    Row { name, body: Body::Call { intrinsic, leading }, min_sm: 0, min_ptx: None }
}

const ROWS: &[Row] = &[
    // PTX ISA, "Special Registers".
    call("__ptx_tid_x", "llvm.nvvm.read.ptx.sreg.tid.x"),
    call("__ptx_tid_y", "llvm.nvvm.read.ptx.sreg.tid.y"),
    call("__ptx_tid_z", "llvm.nvvm.read.ptx.sreg.tid.z"),
    call("__ptx_ntid_x", "llvm.nvvm.read.ptx.sreg.ntid.x"),
    call("__ptx_ntid_y", "llvm.nvvm.read.ptx.sreg.ntid.y"),
    call("__ptx_ntid_z", "llvm.nvvm.read.ptx.sreg.ntid.z"),
    call("__ptx_ctaid_x", "llvm.nvvm.read.ptx.sreg.ctaid.x"),
    call("__ptx_ctaid_y", "llvm.nvvm.read.ptx.sreg.ctaid.y"),
    call("__ptx_ctaid_z", "llvm.nvvm.read.ptx.sreg.ctaid.z"),
    call("__ptx_nctaid_x", "llvm.nvvm.read.ptx.sreg.nctaid.x"),
    call("__ptx_nctaid_y", "llvm.nvvm.read.ptx.sreg.nctaid.y"),
    call("__ptx_nctaid_z", "llvm.nvvm.read.ptx.sreg.nctaid.z"),
    call("__ptx_laneid", "llvm.nvvm.read.ptx.sreg.laneid"),
    call("__ptx_warpid", "llvm.nvvm.read.ptx.sreg.warpid"),
    call("__ptx_clock64", "llvm.nvvm.read.ptx.sreg.clock64"),
    call("__ptx_globaltimer", "llvm.nvvm.read.ptx.sreg.globaltimer"),
    // PTX ISA, "Parallel Synchronization and Communication Instructions": barrier 0 of the block. The `.aligned` form is
    // undefined where the threads of a warp diverge.
    call_with("__ptx_barrier_sync", "llvm.nvvm.barrier.cta.sync.all", &[0]),
    call_with("__ptx_barrier_sync_aligned", "llvm.nvvm.barrier.cta.sync.aligned.all", &[0]),
    call("__ptx_warp_sync", "llvm.nvvm.bar.warp.sync"),
    // PTX ISA, "Integer Arithmetic Instructions": LLVM would make of a 64-bit product a test for overflow, which is not
    // seen to be what `dimensions` knows.
    call("__ptx_mulhi_u32", "llvm.nvvm.mulhi.ui"),
    // PTX ISA, "Miscellaneous Instructions".
    call("__ptx_trap", "llvm.trap"),
    call("__ptx_nanosleep", "llvm.nvvm.nanosleep"),
    Row { name: "__ptx_dimensions_1", body: Body::Dimensions(1), min_sm: 0, min_ptx: None },
    Row { name: "__ptx_dimensions_2", body: Body::Dimensions(2), min_sm: 0, min_ptx: None },
    Row { name: "__ptx_dimensions_3", body: Body::Dimensions(3), min_sm: 0, min_ptx: None },
    Row { name: "__ptx_arch", body: Body::Arch, min_sm: 0, min_ptx: None },
];

/// The row of that name.
pub fn find(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::Intrinsic;

    #[test]
    fn llvm_knows_every_row() {
        for row in ROWS {
            assert!(row.name.starts_with(ptx_abi::INTRINSIC_PREFIX), "{}", row.name);
            if let Body::Call { intrinsic, .. } = row.body {
                assert!(Intrinsic::find(intrinsic).is_some(), "{intrinsic}");
            }
        }
    }
}
