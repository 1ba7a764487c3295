//! In machine code, a function that is called by pointer sets each uniform register before it reads it. ptxas 13.0.88 does
//! not if a loop moves an address in the function's frame (`workarounds.rs` of the compiler).

use std::collections::BTreeSet;

use libtest_mimic::Trial;
use ptx_tests::trial;

use crate::machine_code;

/// A function in a table, and its loop in a loop: the outer one moves an address in the function's frame.
const PTX: &str = "\
.version 8.8
.target sm_XX
.address_size 64
.func t()
{
	.local .align 8 .b8 	__local_depot0[4800];
	.reg .b64 	%SPL;
	.reg .pred 	%p<3>;
	.reg .b64 	%rd<9>;

	mov.b64 	%SPL, __local_depot0;
	add.u64 	%rd1, %SPL, 0;
	add.u64 	%rd2, %SPL, 336;
	mov.b64 	%rd3, 42;
$L__BB0_1:
	mov.b64 	%rd4, %rd3;
	mov.b64 	%rd5, 0;
$L__BB0_2:
	.pragma \"nounroll\";
	add.s64 	%rd6, %rd1, %rd5;
	add.s64 	%rd7, %rd2, %rd5;
	ld.local.b8 	%rd8, [%rd6];
	st.local.b8 	[%rd7], %rd8;
	add.s64 	%rd5, %rd5, 8;
	add.s64 	%rd4, %rd4, -1;
	setp.ne.s64 	%p1, %rd4, 0;
	@%p1 bra 	$L__BB0_2;
	shl.b64 	%rd6, %rd3, 3;
	add.s64 	%rd2, %rd2, %rd6;
	shr.u64 	%rd3, %rd3, 1;
	setp.ne.s64 	%p2, %rd3, 0;
	@%p2 bra 	$L__BB0_1;
	ret;
}
.global .u64 table[2] = {t, t};
.visible .entry k(.param .u64 k_param_0)
{
	.reg .b64 	%rd<4>;

	ld.param.b64 	%rd1, [k_param_0];
	mov.b64 	%rd2, table;
	add.s64 	%rd2, %rd2, %rd1;
	ld.global.b64 	%rd3, [%rd2];
	prototype_0 : .callprototype ()_ ();
	call 	%rd3, (), prototype_0;
	ret;
}
";

/// A test for every generation of GPUs.
pub fn trials() -> Vec<Trial> {
    let archs = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"];
    archs.into_iter().map(|arch| trial(format!("frames of called functions, {arch}"), move || check(arch))).collect()
}

fn check(arch: &str) -> Option<String> {
    let text = match machine_code::of(&PTX.replace("sm_XX", arch), arch) {
        Ok(text) => text,
        Err(reason) => return Some(reason),
    };
    let (_, code) = text.split_once("\n$k$t:\n").expect("the function's code");
    assert!(code.contains("STL"), "no variable in memory:\n{code}");
    let unset = unset(code);
    assert!(unset.is_empty(), "{unset:?} are not set:\n{code}");
    None
}

/// The uniform registers that an instruction reads before an earlier one sets them.
fn unset(code: &str) -> BTreeSet<u32> {
    let (mut set, mut unset) = (BTreeSet::new(), BTreeSet::new());
    for line in code.lines() {
        // `/*00e0*/ @!UP0 UIADD3 UR8, UR8, 0x150, URZ ; /* 0x... */`
        let Some((statement, _)) = line.split_once("*/").and_then(|(_, rest)| rest.split_once(';')) else { continue };
        let mut words = statement.split_whitespace().skip_while(|word| word.starts_with('@'));
        let Some(operation) = words.next() else { continue };
        let is_uniform = ["U", "R2UR", "S2UR", "LDCU"].iter().any(|start| operation.starts_with(start));
        for (place, operand) in words.enumerate() {
            for register in registers(operand) {
                if !(is_uniform && place == 0) && !set.contains(&register) {
                    unset.insert(register);
                }
            }
        }
        let result = statement.split(operation).nth(1).and_then(|operands| operands.split(',').next());
        for register in registers(result.filter(|_| is_uniform).unwrap_or_default()) {
            let is_pair = operation.contains("64") || operation.contains("WIDE");
            set.extend([register].into_iter().chain(is_pair.then_some(register + 1)));
        }
    }
    unset
}

/// Of `[R0+UR8+0x10]`, 8.
fn registers(operand: &str) -> impl Iterator<Item = u32> {
    let words = operand.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter_map(|word| word.strip_prefix("UR")?.parse().ok())
}
