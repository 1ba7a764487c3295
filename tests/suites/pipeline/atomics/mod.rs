//! PTX of every atomic operation, ordering, scope, width and address space against the interoperability guide's mapping
//! (chapter 4), against nvcc's for `cuda::atomic_ref`, and through ptxas.

mod cases;
mod ours;
mod ptx;
mod theirs;

use std::process::Command;

use libtest_mimic::Trial;
use ptx_codegen::ptx_text;
use ptx_project::tools;
use ptx_tests::{Sample, trial};

use self::cases::{Case, Instruction, Op, Order, Space, Type};

/// GPUs and levels of optimisation for which ptxas is asked.
const BUILDS: [(&str, u32); 4] = [("sm_75", 75), ("sm_80", 80), ("sm_90", 90), ("sm_120", 120)];

/// A test for every GPU and level, and one against nvcc.
pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("atomics: as nvcc's cuda::atomic_ref", as_nvcc),
        trial("atomics: fences", fences),
        trial("atomics: on the stack", on_the_stack),
    ];
    let builds = BUILDS.into_iter().flat_map(|(arch, sm)| ["-O0", "-O3"].map(|level| (arch, sm, level)));
    for (arch, sm, level) in Sample::asked().of("GPUs and levels for atomics", builds, 2) {
        trials
            .push(trial(format!("atomics: the guide's mapping for {arch} at {level}"), move || guide(arch, sm, level)));
    }
    trials
}

/// The kernels' instructions, in the order of the cases.
fn by_case(text: &str, count: usize) -> Vec<Vec<Instruction>> {
    let mut found = vec![None; count];
    for (name, instructions) in ptx::kernels(text) {
        let index: usize = name[1..].parse().expect("kernels are numbered");
        found[index] = Some(instructions);
    }
    found.into_iter().map(|kernel| kernel.expect("every case has its kernel")).collect()
}

fn text(instructions: &[Instruction]) -> String {
    instructions.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Fails with the first few of many differences.
#[track_caller]
fn none(differences: &[String]) {
    let few: Vec<_> = differences.iter().take(20).cloned().collect();
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), few.join("\n"));
}

fn guide(arch: &str, sm: u32, level: &str) -> Option<String> {
    let mut cases = cases::all(sm);
    assert!(cases.len() > 3000, "{}", cases.len());
    if level == "-O0" {
        // Address spaces are only looked for where there is optimisation: the others would be the same again.
        cases.retain(|case| case.space == Space::Generic);
    }
    let ptx = ours::compile(&cases, arch, level);
    let mut differences = Vec::new();
    for (case, found) in cases.iter().zip(by_case(&ptx, cases.len())) {
        let expected = case.expected();
        if found != expected {
            differences.push(format!("{case:?}: {}, not {}", text(&found), text(&expected)));
        }
    }
    none(&differences);
    accepted_by_ptxas(arch, &ptx)
}

fn accepted_by_ptxas(arch: &str, ptx: &str) -> Option<String> {
    let tools = tools::find();
    let Some(ptxas) = tools.ptxas() else { return Some("ptxas was not found; the PTX is as the guide has it".into()) };
    if !ptxas.archs().is_ok_and(|known| known.iter().any(|name| name == arch)) {
        return Some("this ptxas does not know the arch; the PTX is as the guide has it".into());
    }
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let input = scratch.path().join("cases.ptx");
    std::fs::write(&input, ptx).expect("a fresh file");
    let mut command = Command::new(&ptxas.path);
    command.args(["--gpu-name", arch, "-O0", "--output-file"]).arg(scratch.path().join("cases.cubin")).arg(&input);
    let output = command.output().expect("ptxas starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    None
}

/// A difference from nvcc that is accepted: for which cases, and what nvcc has in place of the guide's instructions.
struct Accepted {
    reason: &'static str,
    applies: fn(&Case) -> bool,
    theirs: fn(Vec<Instruction>) -> Vec<Instruction>,
}

/// Applied in turn.
const ACCEPTED: [Accepted; 5] = [
    Accepted {
        reason: "libcu++ reads 8 bits with the 16 around them; ours reads what is asked for",
        applies: |case| case.op == Op::Load && case.ty == Type::Int(8),
        theirs: |ours| changed(ours, "ld", |load| load.what = "b16".into()),
    },
    Accepted {
        reason: "libcu++ writes 8 bits by compare-exchange of the 32 around them; PTX has the store",
        applies: |case| case.op == Op::Store && case.ty == Type::Int(8),
        theirs: as_loop,
    },
    Accepted {
        reason: "libcu++ changes bits of a narrow value by compare-exchange of the 32 around them; one instruction on those \
                 32 that leaves the neighbours' bits as they are does the same",
        applies: |case| matches!(case.op, Op::Rmw("and" | "or" | "xor")) && case.ty.bits() < 32,
        theirs: as_loop,
    },
    Accepted {
        reason: "libcu++'s sequentially consistent read-modify-writes are `fence.sc` and `acquire`; the guide asks for \
                 `acq_rel`, which is stronger and so works with theirs",
        applies: |case| !matches!(case.op, Op::Load | Op::Store) && case.is_seq_cst(),
        theirs: |ours| changed(ours, "atom", |atom| atom.sem = "acquire".into()),
    },
    Accepted {
        reason: "libcu++'s sequentially consistent stores are `fence.sc` and `relaxed`; the guide asks for `release`, which \
                 is stronger and so works with theirs",
        applies: |case| case.op == Op::Store && case.is_seq_cst(),
        theirs: |ours| {
            let ours = changed(ours, "st", |store| store.sem = "relaxed".into());
            changed(ours, "atom", |atom| atom.sem = "relaxed".into())
        },
    },
];

/// The instructions of that kind, changed.
fn changed(mut all: Vec<Instruction>, kind: &str, change: fn(&mut Instruction)) -> Vec<Instruction> {
    all.iter_mut().filter(|instruction| instruction.kind == kind).for_each(change);
    all
}

/// The last instruction as a loop over 32 bits.
fn as_loop(mut all: Vec<Instruction>) -> Vec<Instruction> {
    let last = all.pop().expect("an operation has an instruction");
    let part = |kind: &str, sem: &str, what: &str| Instruction {
        kind: kind.into(),
        sem: sem.into(),
        what: what.into(),
        ..last.clone()
    };
    all.extend([part("ld", "relaxed", "b32"), part("atom", &last.sem, "cas.b32")]);
    all
}

fn as_nvcc() -> Option<String> {
    let cases: Vec<Case> = cases::all(90).into_iter().filter(theirs::has).collect();
    let Some(ptx) = theirs::compile(&cases) else { return Some("nvcc with libcu++ was not found".into()) };
    let mut differences = Vec::new();
    let mut used = [0; ACCEPTED.len()];
    for (case, found) in cases.iter().zip(by_case(ptx, cases.len())) {
        // libcu++ leaves the address space to ptxas.
        let mut expected = Case { space: Space::Generic, ..*case }.expected();
        for (accepted, used) in ACCEPTED.iter().zip(&mut used) {
            if (accepted.applies)(case) {
                expected = (accepted.theirs)(expected);
                *used += 1;
            }
        }
        if found != expected {
            differences.push(format!("{case:?}: {}, not {}", text(&found), text(&expected)));
        }
    }
    none(&differences);
    for (accepted, used) in ACCEPTED.iter().zip(used) {
        assert!(used > 0, "no case has this difference any more: {}", accepted.reason);
    }
    let same = cases.iter().filter(|case| !ACCEPTED.iter().any(|accepted| (accepted.applies)(case))).count();
    assert!(same > 400, "only {same} of {} are equal", cases.len());
    None
}

fn fences() -> Option<String> {
    let mut module = String::from("target triple = \"nvptx64-nvidia-cuda\"\n");
    let mut expected = Vec::new();
    for scope in cases::SCOPES {
        for order in [Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst] {
            let [ptx, llvm, _] = scope.names();
            let scope = if llvm.is_empty() { String::new() } else { format!("syncscope(\"{llvm}\") ") };
            let index = expected.len();
            let fence = format!("fence {scope}{}", order.names()[0]);
            module += &format!("define ptx_kernel void @k{index}(ptr %p) {{\n{fence}\nret void\n}}\n");
            let sem = if order == Order::SeqCst { "sc" } else { "acq_rel" };
            expected.push(format!("fence.{sem}.{ptx}"));
        }
    }
    // `compiler_fence`: LLVM 22 used to end with "Unsupported scope" over it.
    module += "define ptx_kernel void @k16(ptr %p) {\nstore i32 1, ptr %p\nfence syncscope(\"singlethread\") acq_rel\n\
               store i32 2, ptr %p\nret void\n}\n";
    expected.push(String::new());
    let ptx = ours::compile_ir(&module, expected.len(), "sm_90", "-O3");
    let found: Vec<_> = by_case(&ptx, expected.len()).iter().map(|kernel| text(kernel)).collect();
    assert_eq!(found, expected);
    // Both stores are there: memory may look different to others between them.
    assert_eq!(ptx.matches("st.global.b32").count(), 2, "{ptx}");
    None
}

/// PTX has no atomics in local memory (llvm-project issue 146686): they were emitted all the same, and trap.
fn on_the_stack() -> Option<String> {
    let module = "target triple = \"nvptx64-nvidia-cuda\"\n\
        define ptx_kernel void @k0(ptr %p) {\n%a = alloca i32\nstore volatile i32 5, ptr %a\n\
        %o = atomicrmw add ptr %a, i32 3 seq_cst\n%c = cmpxchg ptr %a, i32 8, i32 9 seq_cst seq_cst\n\
        %x = load atomic i32, ptr %a seq_cst, align 4\n%y = add i32 %x, %o\nstore i32 %y, ptr %p\nret void\n}\n\
        define ptx_kernel void @k1(ptr %p) {\n%a = alloca i32\nstore i32 5, ptr %a\ncall void @f(ptr %a, ptr %p)\nret void\n}\n\
        define internal void @f(ptr %a, ptr %p) noinline {\n%o = atomicrmw add ptr %a, i32 3 seq_cst\n\
        store i32 %o, ptr %p\nret void\n}\n";
    let ptx = ours::compile_ir(module, 2, "sm_80", "-O3");
    // Where it is seen that the address is the thread's own, ordinary accesses do.
    let body = ptx_text::definitions(&ptx).find(|kernel| kernel.function.name == "k0").expect("the kernel").body;
    assert!(body.contains(".local") && !body.contains("atom.") && !body.contains("fence"), "{ptx}");
    // Where it is not, the address is asked.
    let mut functions = ptx_text::definitions(&ptx).filter(|definition| !definition.function.is_kernel);
    let function = functions.next().expect("the function").body;
    let at = |part: &str| function.find(part).unwrap_or_else(|| panic!("no `{part}` in\n{ptx}"));
    assert!(at("isspacep.local") < at("ld.local"), "{ptx}");
    at("atom.acq_rel.sys.add.u32");
    accepted_by_ptxas("sm_80", &ptx)
}
