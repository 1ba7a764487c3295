//! Rows of `ptx::mbarrier`, and of the memory of a cluster's other blocks.

use super::row::{Row, Rule, row};

/// The barrier at the address `q`.
const BARRIER: &str = "(*(q as *const Mbarrier))";

/// Statements on the barrier: name, ours, CUDA C++, lowest arch.
const STATEMENTS: [(&str, &str, &str, u32); 6] = [
    ("init", "init(u)", "__mbarrier_init((__mbarrier_t*)q, u)", 80),
    ("inval", "invalidate()", "__mbarrier_inval((__mbarrier_t*)q)", 80),
    (
        "expect",
        "expect(u)",
        "cuda::ptx::mbarrier_expect_tx(cuda::ptx::sem_relaxed, cuda::ptx::scope_cta, cuda::ptx::space_shared, (uint64_t*)q, u)",
        90,
    ),
    (
        "complete",
        "complete(u)",
        "asm volatile(\"mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;\" :: \"r\"(SHARED(q)), \"r\"(u) : \"memory\")",
        90,
    ),
    (
        "after_copies",
        "arrive_after_copies()",
        "asm volatile(\"cp.async.mbarrier.arrive.shared.b64 [%0];\" :: \"r\"(SHARED(q)))",
        80,
    ),
    (
        "after_copies_counted",
        "arrive_after_copies_counted()",
        "asm volatile(\"cp.async.mbarrier.arrive.noinc.shared.b64 [%0];\" :: \"r\"(SHARED(q)))",
        80,
    ),
];

/// Arrivals, whose result is a state.
const ARRIVALS: [(&str, &str, &str, u32); 7] = [
    ("arrive", "arrive()", "__mbarrier_arrive((__mbarrier_t*)q)", 80),
    ("arrive_cuda", "arrive()", "cuda::ptx::mbarrier_arrive((uint64_t*)q)", 80),
    ("arrive_many", "arrive_many(u)", "cuda::ptx::mbarrier_arrive((uint64_t*)q, u)", 90),
    ("arrive_early", "arrive_early(u)", "cuda::ptx::mbarrier_arrive_no_complete((uint64_t*)q, u)", 80),
    ("leave", "leave()", "__mbarrier_arrive_and_drop((__mbarrier_t*)q)", 80),
    (
        "leave_early",
        "leave_early(u)",
        "({ uint64_t r; asm volatile(\"mbarrier.arrive_drop.noComplete.shared.b64 %0, [%1], %2;\" : \"=l\"(r) : \"r\"(SHARED(q)), \"r\"(u) : \"memory\"); r; })",
        80,
    ),
    (
        "arrive_expecting",
        "arrive_expecting(u)",
        "cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared, (uint64_t*)q, u)",
        90,
    ),
];

/// Questions, whose result is a truth. `t` is the state `r`.
const QUESTIONS: [(&str, &str, &str, u32); 6] = [
    ("is_parity_over", "is_parity_over(u > 3)", "cuda::ptx::mbarrier_test_wait_parity((uint64_t*)q, u > 3)", 80),
    ("try_wait", "try_wait(t)", "cuda::ptx::mbarrier_try_wait((uint64_t*)q, r)", 90),
    ("try_wait_within", "try_wait_within(t, u)", "__mbarrier_try_wait((__mbarrier_t*)q, r, u)", 90),
    ("try_wait_parity", "try_wait_parity(u > 3)", "cuda::ptx::mbarrier_try_wait_parity((uint64_t*)q, u > 3)", 90),
    (
        "try_wait_parity_within",
        "try_wait_parity_within(u > 3, v)",
        "__mbarrier_try_wait_parity((__mbarrier_t*)q, u > 3, v)",
        90,
    ),
    (
        "try_wait_parity_of_cluster",
        "try_wait_parity_of_cluster(u > 3)",
        "cuda::ptx::mbarrier_try_wait_parity(cuda::ptx::sem_acquire, cuda::ptx::scope_cluster, (uint64_t*)q, u > 3)",
        90,
    ),
];

/// What is done at the barrier `q` of block `v`: ours, and PTX behind `mapa`.
const REMOTE: [(&str, &str, &str); 8] = [
    ("arrive", "arrive()", "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];"),
    ("arrive_many", "arrive_many(u)", "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], %1;"),
    (
        "arrive_expecting",
        "arrive_expecting(u)",
        "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;",
    ),
    ("leave", "leave()", "mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%0];"),
    ("leave_many", "leave_many(u)", "mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%0], %1;"),
    (
        "leave_expecting",
        "leave_expecting(u)",
        "mbarrier.arrive_drop.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;",
    ),
    ("expect", "expect(u)", "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;"),
    ("complete", "complete(u)", "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;"),
];

/// Barriers in memory, and the places of other blocks.
pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, ours, theirs, min_sm) in STATEMENTS {
        rows.push(
            row(format!("mbarrier_{name}"), '-', format!("{BARRIER}.{ours};"), format!("{theirs};")).from(min_sm),
        );
    }
    for (name, ours, theirs, min_sm) in ARRIVALS {
        let (rust, cuda) = (format!("*(s as *mut Token) = {BARRIER}.{ours};"), format!("*(uint64_t*)s = {theirs};"));
        rows.push(row(format!("mbarrier_{name}"), '-', rust, cuda).from(min_sm));
    }
    for (name, ours, theirs, min_sm) in QUESTIONS {
        let rust = format!("{{ let t = core::mem::transmute::<u64, Token>(r); {BARRIER}.{ours} as u32 }}");
        rows.push(row(format!("mbarrier_{name}"), 'u', rust, theirs).from(min_sm));
    }
    // Of an arrival's state: for sm_80 to sm_89, ptxas 13.0.88 crashes where the state is a kernel's parameter.
    let rust = format!("{{ let t = {BARRIER}.arrive(); {BARRIER}.is_over(t) as u32 }}");
    let cuda = "__mbarrier_test_wait((__mbarrier_t*)q, __mbarrier_arrive((__mbarrier_t*)q))";
    rows.push(row("mbarrier_is_over", 'u', rust, cuda).from(80));
    for (name, ours, text) in REMOTE {
        let rust = format!("cluster::remote(q as *const Mbarrier, v).{ours};");
        let cuda = format!("asm volatile(\"{text}\" :: \"r\"(MAPPED(q, v)), \"r\"(u) : \"memory\");");
        rows.push(row(format!("mbarrier_remote_{name}"), '-', rust, cuda).from(90));
    }
    rows.extend(in_the_background());
    rows.push(
        row(
            "mbarrier_pending",
            'u',
            "core::mem::transmute::<u64, Token>(r).pending()",
            "__mbarrier_token_pending_count(r)",
        )
        .from(80),
    );
    rows.push(
        row(
            "mbarrier_fence_init",
            '-',
            "mbarrier::fence_init();",
            "cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);",
        )
        .from(90),
    );
    for (name, result, rust, cuda) in [
        (
            "map",
            'q',
            "cluster::map_shared_rank(q as *mut u8, u) as u64",
            "(unsigned long long)__cluster_map_shared_rank((void*)q, u)",
        ),
        ("query", 'u', "cluster::query_shared_rank(q as *const u8)", "__cluster_query_shared_rank((void*)q)"),
        // nvcc takes the answer of `__isClusterShared` for known in a kernel that no cluster is named for.
        (
            "is_shared",
            'u',
            "cluster::is_cluster_shared(q as *const u8) as u32",
            "ASM_(unsigned, \"r\", \"{.reg .pred p; isspacep.shared::cluster p, %1; selp.b32 %0, 1, 0, p;}\", \"l\"(q))",
        ),
        ("remote_address", 'u', "cluster::remote(q as *const u8, v).address()", "MAPPED(q, v)"),
        (
            "remote_load",
            'u',
            "cluster::remote(q as *const u32, v).load()",
            "({ unsigned r; asm volatile(\"ld.shared::cluster.b32 %0, [%1];\" : \"=r\"(r) : \"r\"(MAPPED(q, v)) : \"memory\"); r; })",
        ),
        (
            "remote_store",
            '-',
            "cluster::remote(q as *const u32, v).store(u);",
            "asm volatile(\"st.shared::cluster.b32 [%0], %1;\" :: \"r\"(MAPPED(q, v)), \"r\"(u) : \"memory\");",
        ),
        (
            "remote_rank",
            'u',
            "cluster::remote(q as *const u8, v).block_rank()",
            "ASM_(unsigned, \"r\", \"getctarank.shared::cluster.u32 %0, %1;\", \"r\"(MAPPED(q, v)))",
        ),
    ] {
        rows.push(row(format!("cluster_{name}"), result, rust, cuda).from(90));
    }
    let rust = "Atomic::<u32, ptx::atomic::Device>::from_ptr(cluster::map_shared_rank(q as *mut u32, v)).fetch_add(u, \
                Ordering::Relaxed)";
    let cuda = "atomicAdd((unsigned*)__cluster_map_shared_rank((void*)q, v), u)";
    let rule = Rule::Others(5, "PTX has no atomics on the stack, so of a generic address ours asks first");
    rows.push(row("cluster_atomic", 'u', rust, cuda).from(90).by(rule));
    rows
}

/// What is done in the background at the place `q` of block `v`, with the barrier at `s` there: ours, the type of the place,
/// the class of the value's register, the value in CUDA C++, the instruction's end. libcu++'s `st_async` and `red_async` are
/// the same inline PTX, of generic pointers that they convert.
const IN_THE_BACKGROUND: [(&str, &str, &str, &str, &str); 14] = [
    ("store_async(u, ", "u32", "r", "u", "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32"),
    ("store_async(l, ", "i64", "l", "l", "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64"),
    ("add_async(u, ", "u32", "r", "u", "add.u32"),
    ("min_async(u, ", "u32", "r", "u", "min.u32"),
    ("max_async(u, ", "u32", "r", "u", "max.u32"),
    ("and_async(u, ", "u32", "r", "u", "and.b32"),
    ("or_async(u, ", "u32", "r", "u", "or.b32"),
    ("xor_async(u, ", "u32", "r", "u", "xor.b32"),
    ("inc_async(u, ", "u32", "r", "u", "inc.u32"),
    ("dec_async(u, ", "u32", "r", "u", "dec.u32"),
    ("add_async(i, ", "i32", "r", "i", "add.s32"),
    ("min_async(i, ", "i32", "r", "i", "min.s32"),
    ("max_async(i, ", "i32", "r", "i", "max.s32"),
    ("add_async(r, ", "u64", "l", "r", "add.u64"),
];

fn in_the_background() -> Vec<Row> {
    let mut rows = Vec::new();
    for (ours, ty, class, value, instruction) in IN_THE_BACKGROUND {
        let name = format!("async_{}_{ty}", ours.split("_async").next().unwrap_or(ours));
        let rust = format!("cluster::remote(q as *const {ty}, v).{ours}cluster::remote(s as *const Mbarrier, v));");
        let instruction = match instruction.starts_with("st.") {
            true => instruction.to_owned(),
            false => format!("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{instruction}"),
        };
        let cuda = format!(
            "asm volatile(\"{instruction} [%0], %1, [%2];\" :: \"r\"(MAPPED(q, v)), \"{class}\"({value}), \
             \"r\"(MAPPED(s, v)) : \"memory\");"
        );
        rows.push(row(name, '-', rust, cuda).from(90));
    }
    let rust =
        "cluster::remote(q as *const [u64; 2], v).store_async([r, s], cluster::remote(s as *const Mbarrier, v));";
    let cuda = "asm volatile(\"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];\" \
                :: \"r\"(MAPPED(q, v)), \"l\"(r), \"l\"(s), \"r\"(MAPPED(s, v)) : \"memory\");";
    rows.push(row("async_store_pair", '-', rust, cuda).from(90));
    rows
}
