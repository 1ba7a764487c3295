//! The intrinsics as data: name, what it becomes, what it needs. Rows cite the PTX ISA's chapters.

use crate::arch::PtxVersion;

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
    /// The same, where the intrinsic gives a number and a truth: both in 64 bits, the number in the lower half.
    Pair {
        /// LLVM's name.
        intrinsic: &'static str,
    },
    /// Inline PTX without operands, with effects.
    Assembly(&'static str),
    /// The pointer that it is given, as one into the address space of this number in LLVM.
    Known(u16),
    /// The pointer of an address within that space.
    From(u16),
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
    /// What older GPUs lack.
    pub since: Option<Since>,
}

/// What is younger than the oldest GPU.
#[derive(Clone, Copy, Debug)]
pub struct Since {
    /// The instruction, for messages.
    pub text: &'static str,
    /// The lowest arch.
    pub min_sm: u32,
    /// The lowest PTX ISA version.
    pub min_ptx: PtxVersion,
}

const fn call(name: &'static str, intrinsic: &'static str) -> Row {
    call_with(name, intrinsic, &[])
}

const fn call_with(name: &'static str, intrinsic: &'static str, leading: &'static [u64]) -> Row {
    Row { name, body: Body::Call { intrinsic, leading }, since: None }
}

const fn pair(name: &'static str, intrinsic: &'static str) -> Row {
    Row { name, body: Body::Pair { intrinsic }, since: None }
}

const fn assembly(name: &'static str, text: &'static str) -> Row {
    Row { name, body: Body::Assembly(text), since: None }
}

const fn plain(name: &'static str, body: Body) -> Row {
    Row { name, body, since: None }
}

/// PTX ISA 7.0 and sm_80, where not said otherwise below.
const fn of_sm_80(text: &'static str, row: Row) -> Row {
    since(text, 80, (7, 0), row)
}

/// Clusters, and what came with them.
const fn of_sm_90(text: &'static str, row: Row) -> Row {
    since(text, 90, (7, 8), row)
}

const fn since(text: &'static str, min_sm: u32, (major, minor): (u8, u8), row: Row) -> Row {
    Row { since: Some(Since { text, min_sm, min_ptx: PtxVersion { major, minor } }), ..row }
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
    call("__ptx_smid", "llvm.nvvm.read.ptx.sreg.smid"),
    call("__ptx_nsmid", "llvm.nvvm.read.ptx.sreg.nsmid"),
    call("__ptx_lanemask_le", "llvm.nvvm.read.ptx.sreg.lanemask.le"),
    call("__ptx_lanemask_lt", "llvm.nvvm.read.ptx.sreg.lanemask.lt"),
    call("__ptx_lanemask_ge", "llvm.nvvm.read.ptx.sreg.lanemask.ge"),
    call("__ptx_lanemask_gt", "llvm.nvvm.read.ptx.sreg.lanemask.gt"),
    of_sm_90("%clusterid", call("__ptx_clusterid_x", "llvm.nvvm.read.ptx.sreg.clusterid.x")),
    of_sm_90("%clusterid", call("__ptx_clusterid_y", "llvm.nvvm.read.ptx.sreg.clusterid.y")),
    of_sm_90("%clusterid", call("__ptx_clusterid_z", "llvm.nvvm.read.ptx.sreg.clusterid.z")),
    of_sm_90("%nclusterid", call("__ptx_nclusterid_x", "llvm.nvvm.read.ptx.sreg.nclusterid.x")),
    of_sm_90("%nclusterid", call("__ptx_nclusterid_y", "llvm.nvvm.read.ptx.sreg.nclusterid.y")),
    of_sm_90("%nclusterid", call("__ptx_nclusterid_z", "llvm.nvvm.read.ptx.sreg.nclusterid.z")),
    of_sm_90("%cluster_ctaid", call("__ptx_cluster_ctaid_x", "llvm.nvvm.read.ptx.sreg.cluster.ctaid.x")),
    of_sm_90("%cluster_ctaid", call("__ptx_cluster_ctaid_y", "llvm.nvvm.read.ptx.sreg.cluster.ctaid.y")),
    of_sm_90("%cluster_ctaid", call("__ptx_cluster_ctaid_z", "llvm.nvvm.read.ptx.sreg.cluster.ctaid.z")),
    of_sm_90("%cluster_nctaid", call("__ptx_cluster_nctaid_x", "llvm.nvvm.read.ptx.sreg.cluster.nctaid.x")),
    of_sm_90("%cluster_nctaid", call("__ptx_cluster_nctaid_y", "llvm.nvvm.read.ptx.sreg.cluster.nctaid.y")),
    of_sm_90("%cluster_nctaid", call("__ptx_cluster_nctaid_z", "llvm.nvvm.read.ptx.sreg.cluster.nctaid.z")),
    of_sm_90("%cluster_ctarank", call("__ptx_cluster_ctarank", "llvm.nvvm.read.ptx.sreg.cluster.ctarank")),
    of_sm_90("%cluster_nctarank", call("__ptx_cluster_nctarank", "llvm.nvvm.read.ptx.sreg.cluster.nctarank")),
    call("__ptx_clock64", "llvm.nvvm.read.ptx.sreg.clock64"),
    call("__ptx_globaltimer", "llvm.nvvm.read.ptx.sreg.globaltimer"),
    // PTX ISA, "Parallel Synchronization and Communication Instructions": barrier 0 of the block. The `.aligned` form is
    // undefined where the threads of a warp diverge.
    call_with("__ptx_barrier_sync", "llvm.nvvm.barrier.cta.sync.all", &[0]),
    call_with("__ptx_barrier_sync_aligned", "llvm.nvvm.barrier.cta.sync.aligned.all", &[0]),
    call("__ptx_barrier_numbered", "llvm.nvvm.barrier.cta.sync.all"),
    call_with("__ptx_barrier_count", "llvm.nvvm.barrier.cta.red.popc.all", &[0]),
    call_with("__ptx_barrier_and", "llvm.nvvm.barrier.cta.red.and.all", &[0]),
    call_with("__ptx_barrier_or", "llvm.nvvm.barrier.cta.red.or.all", &[0]),
    call("__ptx_barrier_named", "llvm.nvvm.barrier.cta.sync.count"),
    call("__ptx_barrier_named_arrive", "llvm.nvvm.barrier.cta.arrive.count"),
    call("__ptx_barrier_named_count", "llvm.nvvm.barrier.cta.red.popc.count"),
    call("__ptx_barrier_named_and", "llvm.nvvm.barrier.cta.red.and.count"),
    call("__ptx_barrier_named_or", "llvm.nvvm.barrier.cta.red.or.count"),
    of_sm_90("barrier.cluster.arrive", call("__ptx_cluster_arrive", "llvm.nvvm.barrier.cluster.arrive")),
    of_sm_90(
        "barrier.cluster.arrive.relaxed",
        call("__ptx_cluster_arrive_relaxed", "llvm.nvvm.barrier.cluster.arrive.relaxed"),
    ),
    of_sm_90("barrier.cluster.wait", call("__ptx_cluster_wait", "llvm.nvvm.barrier.cluster.wait")),
    of_sm_90("griddepcontrol.wait", call("__ptx_griddepcontrol_wait", "llvm.nvvm.griddepcontrol.wait")),
    of_sm_90(
        "griddepcontrol.launch_dependents",
        call("__ptx_griddepcontrol_launch_dependents", "llvm.nvvm.griddepcontrol.launch.dependents"),
    ),
    // The same chapter: operations of a warp, and, of "Data Movement and Conversion Instructions", `shfl.sync`.
    call("__ptx_warp_sync", "llvm.nvvm.bar.warp.sync"),
    call("__ptx_activemask", "llvm.nvvm.activemask"),
    call("__ptx_shfl_idx", "llvm.nvvm.shfl.sync.idx.i32"),
    call("__ptx_shfl_up", "llvm.nvvm.shfl.sync.up.i32"),
    call("__ptx_shfl_down", "llvm.nvvm.shfl.sync.down.i32"),
    call("__ptx_shfl_bfly", "llvm.nvvm.shfl.sync.bfly.i32"),
    pair("__ptx_shfl_up_pair", "llvm.nvvm.shfl.sync.up.i32p"),
    pair("__ptx_shfl_down_pair", "llvm.nvvm.shfl.sync.down.i32p"),
    call("__ptx_vote_all", "llvm.nvvm.vote.all.sync"),
    call("__ptx_vote_any", "llvm.nvvm.vote.any.sync"),
    call("__ptx_vote_uni", "llvm.nvvm.vote.uni.sync"),
    call("__ptx_vote_ballot", "llvm.nvvm.vote.ballot.sync"),
    call("__ptx_match_any_32", "llvm.nvvm.match.any.sync.i32"),
    call("__ptx_match_any_64", "llvm.nvvm.match.any.sync.i64"),
    pair("__ptx_match_all_32", "llvm.nvvm.match.all.sync.i32p"),
    pair("__ptx_match_all_64", "llvm.nvvm.match.all.sync.i64p"),
    of_sm_80("redux.sync.add.u32", call("__ptx_redux_add", "llvm.nvvm.redux.sync.add")),
    of_sm_80("redux.sync.min.u32", call("__ptx_redux_umin", "llvm.nvvm.redux.sync.umin")),
    of_sm_80("redux.sync.max.u32", call("__ptx_redux_umax", "llvm.nvvm.redux.sync.umax")),
    of_sm_80("redux.sync.min.s32", call("__ptx_redux_min", "llvm.nvvm.redux.sync.min")),
    of_sm_80("redux.sync.max.s32", call("__ptx_redux_max", "llvm.nvvm.redux.sync.max")),
    of_sm_80("redux.sync.and.b32", call("__ptx_redux_and", "llvm.nvvm.redux.sync.and")),
    of_sm_80("redux.sync.or.b32", call("__ptx_redux_or", "llvm.nvvm.redux.sync.or")),
    of_sm_80("redux.sync.xor.b32", call("__ptx_redux_xor", "llvm.nvvm.redux.sync.xor")),
    since("elect.sync", 90, (8, 0), pair("__ptx_elect", "llvm.nvvm.elect.sync")),
    // PTX ISA, "Data Movement and Conversion Instructions: isspacep".
    call("__ptx_isspacep_global", "llvm.nvvm.isspacep.global"),
    call("__ptx_isspacep_shared", "llvm.nvvm.isspacep.shared"),
    call("__ptx_isspacep_local", "llvm.nvvm.isspacep.local"),
    call("__ptx_isspacep_const", "llvm.nvvm.isspacep.const"),
    // PTX ISA, "State Spaces"; numbers as in LLVM's "User Guide for NVPTX Back-end", "Address Spaces".
    plain("__ptx_known_global", Body::Known(1)),
    plain("__ptx_known_shared", Body::Known(3)),
    plain("__ptx_known_const", Body::Known(4)),
    plain("__ptx_known_local", Body::Known(5)),
    plain("__ptx_from_global", Body::From(1)),
    plain("__ptx_from_shared", Body::From(3)),
    plain("__ptx_from_const", Body::From(4)),
    plain("__ptx_from_local", Body::From(5)),
    // PTX ISA, "Integer Arithmetic Instructions": LLVM would make of a 64-bit product a test for overflow, which is not
    // seen to be what `dimensions` knows.
    call("__ptx_mulhi_u32", "llvm.nvvm.mulhi.ui"),
    // PTX ISA, "Miscellaneous Instructions".
    call("__ptx_trap", "llvm.trap"),
    call("__ptx_nanosleep", "llvm.nvvm.nanosleep"),
    call("__ptx_exit", "llvm.nvvm.exit"),
    call("__ptx_brkpt", "llvm.debugtrap"),
    // LLVM's intrinsic takes a mask of events, and writes that of event 15 as a negative number, which ptxas refuses.
    assembly("__ptx_pmevent_0", "pmevent 0;"),
    assembly("__ptx_pmevent_1", "pmevent 1;"),
    assembly("__ptx_pmevent_2", "pmevent 2;"),
    assembly("__ptx_pmevent_3", "pmevent 3;"),
    assembly("__ptx_pmevent_4", "pmevent 4;"),
    assembly("__ptx_pmevent_5", "pmevent 5;"),
    assembly("__ptx_pmevent_6", "pmevent 6;"),
    assembly("__ptx_pmevent_7", "pmevent 7;"),
    assembly("__ptx_pmevent_8", "pmevent 8;"),
    assembly("__ptx_pmevent_9", "pmevent 9;"),
    assembly("__ptx_pmevent_10", "pmevent 10;"),
    assembly("__ptx_pmevent_11", "pmevent 11;"),
    assembly("__ptx_pmevent_12", "pmevent 12;"),
    assembly("__ptx_pmevent_13", "pmevent 13;"),
    assembly("__ptx_pmevent_14", "pmevent 14;"),
    assembly("__ptx_pmevent_15", "pmevent 15;"),
    // PTX ISA, "Integer Arithmetic Instructions: fns".
    call("__ptx_fns", "llvm.nvvm.fns"),
    Row { name: "__ptx_dimensions_1", body: Body::Dimensions(1), since: None },
    Row { name: "__ptx_dimensions_2", body: Body::Dimensions(2), since: None },
    Row { name: "__ptx_dimensions_3", body: Body::Dimensions(3), since: None },
    Row { name: "__ptx_arch", body: Body::Arch, since: None },
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
            if let Body::Call { intrinsic, .. } | Body::Pair { intrinsic } = row.body {
                assert!(Intrinsic::find(intrinsic).is_some(), "{intrinsic}");
            }
        }
    }
}
