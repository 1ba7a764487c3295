//! Rows of `ptx::memory`.

use super::row::{Row, row};

/// Types in both languages, with a value of the kernel's operands.
const TYPES: [(&str, &str, &str, &str, &str); 10] = [
    ("u8", "u8", "unsigned char", "u as u8", "(unsigned char)u"),
    ("u16", "u16", "unsigned short", "u as u16", "(unsigned short)u"),
    ("i32", "i32", "int", "i", "i"),
    ("u32", "u32", "unsigned", "u", "u"),
    ("u64", "u64", "unsigned long long", "r", "r"),
    ("f32", "f32", "float", "f", "f"),
    ("f64", "f64", "double", "d", "d"),
    ("float2", "Float2", "float2", "Float2::new(f, f32::from_bits(u))", "make_float2(f, __uint_as_float(u))"),
    (
        "float4",
        "Float4",
        "float4",
        "Float4::new(f, f32::from_bits(u), f32::from_bits(v), f32::from_bits(w))",
        "make_float4(f, __uint_as_float(u), __uint_as_float(v), __uint_as_float(w))",
    ),
    ("double2", "Double2", "double2", "Double2::new(d, d)", "make_double2(d, d)"),
];

/// Loads and stores with cache operators, prefetches, address spaces, copies in the background.
pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, rust, cuda, rust_value, cuda_value) in TYPES {
        for (operator, theirs) in
            [("nc", "__ldg"), ("ca", "__ldca"), ("cg", "__ldcg"), ("cs", "__ldcs"), ("lu", "__ldlu"), ("cv", "__ldcv")]
        {
            rows.push(row(
                format!("load_{operator}_{name}"),
                '-',
                format!("*(s as *mut {rust}) = memory::load_{operator}(q as *const {rust});"),
                format!("*({cuda}*)s = {theirs}((const {cuda}*)q);"),
            ));
        }
        for (operator, theirs) in [("wb", "__stwb"), ("cg", "__stcg"), ("cs", "__stcs"), ("wt", "__stwt")] {
            rows.push(row(
                format!("store_{operator}_{name}"),
                '-',
                format!("memory::store_{operator}(q as *mut {rust}, {rust_value});"),
                format!("{theirs}(({cuda}*)q, {cuda_value});"),
            ));
        }
    }
    for (function, cuda) in [
        ("is_global", "__isGlobal"),
        ("is_shared", "__isShared"),
        ("is_local", "__isLocal"),
        ("is_constant", "__isConstant"),
    ] {
        let rust = format!("memory::{function}(q as *const u8) as u32");
        rows.push(row(function, 'u', rust, format!("{cuda}((const void*)q)")));
    }
    for (function, cuda) in [
        ("to_global", "__cvta_generic_to_global"),
        ("to_shared", "__cvta_generic_to_shared"),
        ("to_local", "__cvta_generic_to_local"),
        ("to_constant", "__cvta_generic_to_constant"),
    ] {
        let rust = format!("memory::{function}(q as *const u8) as u64");
        rows.push(row(function, 'q', rust, format!("{cuda}((const void*)q)")));
    }
    let inline = |text: &str| format!("asm volatile(\"{text};\" :: \"l\"(q) : \"memory\");");
    for (function, text, min_sm) in [
        ("prefetch_l1", "prefetch.global.L1 [%0]", 70),
        ("prefetch_l2", "prefetch.global.L2 [%0]", 70),
        ("prefetch_l2_evict_last", "prefetch.global.L2::evict_last [%0]", 80),
        ("prefetch_l2_evict_normal", "prefetch.global.L2::evict_normal [%0]", 80),
        ("discard_l2", "discard.global.L2 [%0], 128", 80),
        ("apply_priority_normal", "applypriority.global.L2::evict_normal [%0], 128", 80),
    ] {
        rows.push(row(function, '-', format!("memory::{function}(q as *const u8);"), inline(text)).from(min_sm));
    }
    for (name, modifier, min_sm) in [
        ("l1_evict_first", "L1::evict_first", 70),
        ("l1_evict_last", "L1::evict_last", 70),
        ("l1_no_allocate", "L1::no_allocate", 70),
        ("l2_64", "L2::64B", 75),
        ("l2_128", "L2::128B", 75),
        ("l2_256", "L2::256B", 80),
    ] {
        let cuda = format!(
            "asm volatile(\"ld.global.{modifier}.b32 %0, [%1];\" : \"=r\"(*(unsigned*)s) : \"l\"(q) : \"memory\");"
        );
        let rust = format!("*(s as *mut u32) = memory::load_{name}(q as *const u32);");
        rows.push(row(format!("load_{name}"), '-', rust, cuda).from(min_sm));
        if name.starts_with("l1") {
            let cuda =
                format!("asm volatile(\"st.global.{modifier}.b32 [%0], %1;\" :: \"l\"(q), \"r\"(u) : \"memory\");");
            rows.push(row(format!("store_{name}"), '-', format!("memory::store_{name}(q as *mut u32, u);"), cuda));
        }
    }
    for (name, rust, cuda, bytes) in
        [("u32", "u32", "unsigned", 4), ("float2", "Float2", "float2", 8), ("float4", "Float4", "float4", 16)]
    {
        rows.push(
            row(
                format!("copy_async_{name}"),
                '-',
                format!("memory::copy_async(q as *mut {rust}, r as *const {rust});"),
                format!("__pipeline_memcpy_async(({cuda}*)q, (const {cuda}*)r, {bytes});"),
            )
            .from(80),
        );
    }
    rows.extend(parts_and_policies());
    rows.push(row("copy_async_commit", '-', "memory::copy_async_commit();", "__pipeline_commit();").from(80));
    for pending in 0..8 {
        let (rust, cuda) =
            (format!("memory::copy_async_wait::<{pending}>();"), format!("__pipeline_wait_prior({pending});"));
        rows.push(row(format!("copy_async_wait_{pending}"), '-', rust, cuda).from(80));
    }
    rows
}

/// Copies with zeros, policies of L2, and vectors of 32 bytes.
fn parts_and_policies() -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, rust, bytes) in [("u32", "u32", 4), ("float2", "Float2", 8), ("float4", "Float4", 16)] {
        let operator = if bytes == 16 { "cg" } else { "ca" };
        // `__pipeline_memcpy_async` goes through all numbers of zeros, each with an instruction.
        let theirs = |size: &str| {
            format!(
                "asm volatile(\"cp.async.{operator}.shared.global [%0], [%1], {bytes}, %2;\" :: \"r\"(SHARED(q)), \"l\"(r), \
                 \"r\"({size}) : \"memory\");"
            )
        };
        let ours = format!("memory::copy_async_part(q as *mut {rust}, r as *const {rust}, u);");
        rows.push(row(format!("copy_async_part_{name}"), '-', ours, theirs("u")).from(80));
        let ours = format!("memory::copy_async_if(q as *mut {rust}, r as *const {rust}, u > 3);");
        rows.push(row(format!("copy_async_if_{name}"), '-', ours, theirs(&format!("u > 3 ? {bytes} : 0"))).from(80));
        // The value's class of registers, in PTX.
        let (ty, one, all) = match bytes {
            4 => ("b32", "r", "%0, [%1], %2;"),
            8 => ("b64", "l", "%0, [%1], %2;"),
            _ => ("v2.b64", "l", "{%0, %1}, [%2], %3;"),
        };
        let target = if bytes == 16 {
            "\"=l\"(((unsigned long long*)s)[0]), \"=l\"(((unsigned long long*)s)[1])".to_string()
        } else {
            format!("\"={one}\"(*({}*)s)", if bytes == 4 { "unsigned" } else { "unsigned long long" })
        };
        let ours = format!(
            "*(s as *mut {rust}) = memory::load_with(q as *const {rust}, core::mem::transmute::<u64, CachePolicy>(r));"
        );
        let theirs = format!(
            "asm volatile(\"ld.global.L2::cache_hint.{ty} {all}\" : {target} : \"l\"(q), \"l\"(r) : \"memory\");"
        );
        rows.push(row(format!("load_with_{name}"), '-', ours, theirs).from(80));
    }
    let ours = "memory::store_with(q as *mut u32, u, core::mem::transmute::<u64, CachePolicy>(r));";
    let theirs =
        "asm volatile(\"st.global.L2::cache_hint.b32 [%0], %1, %2;\" :: \"l\"(q), \"r\"(u), \"l\"(r) : \"memory\");";
    rows.push(row("store_with", '-', ours, theirs).from(80));
    let ours =
        "memory::copy_async_with(q as *mut Float4, r as *const Float4, core::mem::transmute::<u64, CachePolicy>(s));";
    let theirs = "asm volatile(\"cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;\" :: \"r\"(SHARED(q)), \"l\"(r), \"l\"(s) : \"memory\");";
    rows.push(row("copy_async_with", '-', ours, theirs).from(80));
    for (evict, primary) in [("Last", "last"), ("Normal", "normal"), ("First", "first"), ("Unchanged", "unchanged")] {
        for (rest, secondary) in [("Unchanged", "unchanged"), ("First", "first")] {
            let priorities = format!("L2::evict_{primary}.L2::evict_{secondary}");
            let ours = format!("CachePolicy::fraction(Evict::{evict}, Rest::{rest}, 0.5).bits()");
            let theirs = format!(
                "ASM_(unsigned long long, \"l\", \"createpolicy.fractional.{priorities}.b64 %0, %1;\", \"f\"(0.5f))"
            );
            let name = format!("{primary}_{secondary}");
            rows.push(row(format!("policy_fraction_{name}"), 'q', ours, theirs).from(80));
            let ours = format!("CachePolicy::range(Evict::{evict}, Rest::{rest}, r as *const u8, 4096, 8192).bits()");
            let theirs = format!(
                "ASM_(unsigned long long, \"l\", \"createpolicy.range.global.{priorities}.b64 %0, [%1], %2, %3;\", \"l\"(r), \
                 \"r\"(4096), \"r\"(8192))"
            );
            rows.push(row(format!("policy_range_{name}"), 'q', ours, theirs).from(80));
        }
    }
    let theirs = "ASM_(unsigned long long, \"l\", \"createpolicy.cvt.L2.b64 %0, %1;\", \"l\"(r))";
    rows.push(row("policy_of_property", 'q', "CachePolicy::of_property(r).bits()", theirs).from(80));
    for (name, function, instruction) in
        [("load_wide", "load_wide", "ld.global.v4.b64"), ("load_wide_nc", "load_wide_nc", "ld.global.nc.v4.b64")]
    {
        let ours = format!("*(s as *mut [u64; 4]) = memory::{function}(q as *const [u64; 4]);");
        let theirs = format!(
            "unsigned long long *p = (unsigned long long*)s; asm volatile(\"{instruction} {{%0, %1, %2, %3}}, [%4];\" : \
             \"=l\"(p[0]), \"=l\"(p[1]), \"=l\"(p[2]), \"=l\"(p[3]) : \"l\"(q) : \"memory\");"
        );
        rows.push(row(name, '-', ours, theirs).from(100));
    }
    let theirs = "asm volatile(\"st.global.v4.b64 [%0], {%1, %2, %3, %4};\" :: \"l\"(q), \"l\"(r), \"l\"(r), \"l\"(s), \"l\"(s) : \"memory\");";
    rows.push(row("store_wide", '-', "memory::store_wide(q as *mut [u64; 4], [r, r, s, s]);", theirs).from(100));
    rows
}
