//! Rows of `ptx::sync`, `ptx::control` and `ptx::cluster`.

use super::row::{Row, row};

/// Barriers, fences, registers and what ends or delays a thread.
pub fn rows() -> Vec<Row> {
    let mut rows = vec![
        row("sync_threads", '-', "sync_threads();", "__syncthreads();"),
        row("sync_threads_count", 'u', "sync::sync_threads_count(u > 3)", "__syncthreads_count(u > 3)"),
        row("sync_threads_and", 'u', "sync::sync_threads_and(u > 3) as u32", "__syncthreads_and(u > 3)"),
        row("sync_threads_or", 'u', "sync::sync_threads_or(u > 3) as u32", "__syncthreads_or(u > 3)"),
        // Of all threads; where they come together it is aligned.
        row("object_barrier", '-', "ptx::shared::ObjectBarrier::new(5).wait();", "asm volatile(\"bar.sync 5;\");"),
        row("barrier_3_64", '-', "sync::NamedBarrier::<3, 64>.sync();", "__barrier_sync_count(3, 64);"),
        row("barrier_15_1024", '-', "sync::NamedBarrier::<15, 1024>.sync();", "__barrier_sync_count(15, 1024);"),
        row("barrier_arrive", '-', "sync::NamedBarrier::<3, 64>.arrive();", "asm volatile(\"barrier.arrive 3, 64;\");"),
        row("fence_block", '-', "fence::<Block>(Ordering::SeqCst);", "__threadfence_block();"),
        row("fence_device", '-', "fence::<Device>(Ordering::SeqCst);", "__threadfence();"),
        row("fence_system", '-', "fence::<System>(Ordering::SeqCst);", "__threadfence_system();"),
        row("sleep", '-', "control::sleep_ns(u);", "__nanosleep(u);"),
        row("breakpoint", '-', "control::breakpoint();", "__brkpt();"),
        row("exit", '-', "control::exit();", "asm volatile(\"exit;\");"),
        row("sm_id", 'u', "control::sm_id()", "SREG(\"%smid\")"),
        row("sm_count", 'u', "control::sm_count()", "SREG(\"%nsmid\")"),
        row("warp_id", 'u', "control::warp_id()", "SREG(\"%warpid\")"),
        row("clock", 'l', "thread::clock() as i64", "clock64()"),
        row(
            "wait_for_launch_before",
            '-',
            "control::wait_for_launch_before();",
            "asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");",
        )
        .from(90),
        row(
            "let_next_launch_begin",
            '-',
            "control::let_next_launch_begin();",
            "asm volatile(\"griddepcontrol.launch_dependents;\" ::: \"memory\");",
        )
        .from(90),
        row("cluster_rank", 'u', "cluster::block_rank()", "__clusterRelativeBlockRank()").from(90),
        row("cluster_count", 'u', "cluster::block_count()", "__clusterSizeInBlocks()").from(90),
        row("cluster_arrive", '-', "cluster::arrive();", "__cluster_barrier_arrive();").from(90),
        row("cluster_arrive_relaxed", '-', "cluster::arrive_relaxed();", "__cluster_barrier_arrive_relaxed();")
            .from(90),
        row("cluster_wait", '-', "cluster::wait();", "__cluster_barrier_wait();").from(90),
    ];
    for (name, function, cuda) in [
        ("block_idx", "block_idx", "__clusterRelativeBlockIdx"),
        ("dim", "dim", "__clusterDim"),
        ("idx", "cluster_idx", "__clusterIdx"),
        ("grid", "grid_dim", "__clusterGridDimInClusters"),
    ] {
        for axis in ["x", "y", "z"] {
            let (rust, cuda) = (format!("cluster::{function}().{axis}"), format!("{cuda}().{axis}"));
            rows.push(row(format!("cluster_{name}_{axis}"), 'u', rust, cuda).from(90));
        }
    }
    for event in 0..16 {
        let (rust, cuda) = (format!("control::profiler_trigger::<{event}>();"), format!("__prof_trigger({event});"));
        rows.push(row(format!("profiler_trigger_{event}"), '-', rust, cuda));
    }
    rows
}
