//! Rows of `ptx::cooperative`.

use super::row::{Row, Rule, row};

/// Groups within a warp and the larger ones.
pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let same = "cooperative groups compute a tile's mask and its threads' numbers in other ways";
    for n in [2_u32, 4, 8, 16, 32] {
        let (t, g) = (format!("cooperative::tile::<{n}>()"), format!("tile<{n}>()"));
        let mut add = |name: &str, result: char, rust: String, cuda: String| {
            let rule = match (name, result) {
                ("exclusive", _) => {
                    Rule::Others(13, "ours shifts by one more; nvcc takes the caller's value off, for sums")
                }
                ("reduce_add" | "reduce_max", _) => {
                    Rule::Others(4, "one `redux.sync` for any tile; nvcc shuffles in small ones")
                }
                (_, 'd' | 'q') => {
                    Rule::Others(5, "ours says whether there is such a thread; CUDA's gives the caller's value")
                }
                ("all" | "count", _) => Rule::Others(3, same),
                _ => Rule::Others(0, same),
            };
            rows.push(row(format!("tile{n}_{name}"), result, rust, cuda).by(rule));
        };
        add("rank", 'u', format!("{t}.rank()"), format!("SREG(\"%laneid\") & {}", n - 1));
        add("size", 'u', format!("{t}.size()"), format!("{g}.size()"));
        add("sync", '-', format!("{t}.sync();"), format!("{g}.sync();"));
        for value in ['u', 'f', 'd', 'q'] {
            add(
                &format!("shuffle_{value}"),
                value,
                format!("{t}.shuffle({value}, v)"),
                format!("{g}.shfl({value}, v)"),
            );
            add(
                &format!("xor_{value}"),
                value,
                format!("{t}.shuffle_xor({value}, 1)"),
                format!("{g}.shfl_xor({value}, 1)"),
            );
            add(
                &format!("up_{value}"),
                value,
                format!("{t}.shuffle_up({value}, 1).unwrap_or({value})"),
                format!("{g}.shfl_up({value}, 1)"),
            );
            add(
                &format!("down_{value}"),
                value,
                format!("{t}.shuffle_down({value}, 1).unwrap_or({value})"),
                format!("{g}.shfl_down({value}, 1)"),
            );
        }
        add("all", 'u', format!("{t}.all(u > 3) as u32"), format!("{g}.all(u > 3)"));
        add("any", 'u', format!("{t}.any(u > 3) as u32"), format!("{g}.any(u > 3)"));
        add("ballot", 'u', format!("{t}.ballot(u > 3).bits()"), format!("{g}.ballot(u > 3)"));
        add("match_any", 'u', format!("{t}.match_any(u).bits()"), format!("{g}.match_any(u)"));
        add("match_all", 'u', format!("{t}.match_all(u) as u32"), format!("({{ int p; {g}.match_all(u, p); p; }})"));
        add("reduce_add", 'u', format!("{t}.reduce_add(u)"), format!("cg::reduce({g}, u, cg::plus<unsigned>())"));
        add("reduce_max", 'i', format!("{t}.reduce_max(i)"), format!("cg::reduce({g}, i, cg::greater<int>())"));
        add(
            "reduce_f32",
            'f',
            format!("{t}.reduce(f, |a, b| a + b)"),
            format!("cg::reduce({g}, f, cg::plus<float>())"),
        );
        add("inclusive", 'u', format!("{t}.inclusive_scan(u, |a, b| a + b)"), format!("cg::inclusive_scan({g}, u)"));
        add("exclusive", 'u', format!("{t}.exclusive_scan(u, 0, |a, b| a + b)"), format!("cg::exclusive_scan({g}, u)"));
        add("number", 'u', format!("{t}.number()"), format!("{g}.meta_group_rank()"));
        add("count", 'u', format!("{t}.count()"), format!("{g}.meta_group_size()"));
    }
    let (c, g) = ("cooperative::coalesced()", "cg::coalesced_threads()");
    let mut add = |name: &str, result: char, rust: String, cuda: String| {
        rows.push(row(format!("coalesced_{name}"), result, rust, cuda).by(Rule::Others(0, same)));
    };
    add("size", 'u', format!("{c}.size()"), format!("{g}.size()"));
    add("rank", 'u', format!("{c}.rank()"), format!("{g}.thread_rank()"));
    add("sync", '-', format!("{c}.sync();"), format!("{g}.sync();"));
    add("all", 'u', format!("{c}.all(u > 3) as u32"), format!("{g}.all(u > 3)"));
    add("any", 'u', format!("{c}.any(u > 3) as u32"), format!("{g}.any(u > 3)"));
    add("shuffle", 'u', format!("{c}.shuffle(u, v)"), format!("{g}.shfl(u, v)"));
    add(
        "partition_size",
        'u',
        format!("{c}.partition(u > 3).size()"),
        format!("cg::binary_partition({g}, u > 3).size()"),
    );
    add("labelled_size", 'u', format!("{c}.partition_by(u).size()"), format!("cg::labeled_partition({g}, u).size()"));
    rows.extend([
        row("block_size", 'u', "cooperative::Block.size()", "cg::this_thread_block().size()"),
        row("block_rank", 'u', "cooperative::Block.rank()", "cg::this_thread_block().thread_rank()"),
        row("block_sync", '-', "cooperative::Block.sync();", "cg::this_thread_block().sync();")
            .by(Rule::Others(0, "ours is seen to be where all threads of the block come together")),
        row("thread_size", 'u', "cooperative::ThisThread.size()", "cg::this_thread().size()"),
        row(
            "cluster_sync",
            '-',
            "cooperative::Cluster.sync();",
            "asm volatile(\"barrier.cluster.arrive;\"); asm volatile(\"barrier.cluster.wait;\");",
        )
        .from(90),
    ]);
    rows
}
