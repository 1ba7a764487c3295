//! Lines as LLVM and nvcc write them, and any text at all.

use super::*;

const PTX: &str = r#"// of LLVM
.version 7.8
.target sm_90, debug
.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0
)
;
.visible .func fail()
.noreturn;
.visible .entry k(
	.param .u64 .ptr .align 4 k_param_0, // a pointer
	.param .align 8 .b8 k_param_1[16]
)
.maxntid 32
{
$L__func_begin0:
	.loc	1 7 13, function_name $L__info_string0, inlined_at 2 1 1 // k.rs:7:13
	{ // callseq 1, 0
	call.uni (retval0), vprintf, (param0, param1);
	} // callseq 1
	// begin inline asm
{
$L__mine:
}
	// end inline asm
$L__BB0_1:                              // %bb1
	@!%p1 bra 	$L__BB0_1;
	ret;

}
	.file	1 "/a//k.rs"
	.file 2 "a.cu", 1700000000, 42
	.section	.debug_info
	{
.b8 1
	}
	.section	.debug_macinfo	{	}
"#;

#[test]
fn every_kind_of_line() {
    use Kind::*;
    let kinds: Vec<Kind<'_>> = lines(PTX).map(|line| line.kind).collect();
    let function = |name, is_kernel| Function(super::Function { is_kernel, name });
    let expected = [
        Comment("// of LLVM"),
        Statement,
        Target,
        function("vprintf", false),
        Statement,
        Statement,
        Statement,
        Statement,
        function("fail", false),
        Statement,
        function("k", true),
        Statement,
        Statement,
        Statement,
        Statement,
        Open,
        Label("$L__func_begin0"),
        Loc { file: "1", line: "7", column: "13" },
        Open,
        Statement,
        Close,
        Comment("// begin inline asm"),
        Open,
        Label("$L__mine"),
        Close,
        Comment("// end inline asm"),
        Label("$L__BB0_1"),
        Statement,
        Statement,
        Empty,
        Close,
        File { number: "1", path: "/a//k.rs" },
        File { number: "2", path: "a.cu" },
        Section(".debug_info"),
        Open,
        Statement,
        Close,
        Section(".debug_macinfo"),
    ];
    for (at, (kind, expected)) in kinds.iter().zip(&expected).enumerate() {
        assert_eq!(kind, expected, "line {}", at + 1);
    }
    assert_eq!(kinds.len(), expected.len());
}

#[test]
fn inline_text_ends_no_function() {
    let inline: Vec<&str> = lines(PTX).filter(|line| line.is_inline).map(|line| line.text).collect();
    assert_eq!(inline, ["{", "$L__mine:", "}"]);
    let ends: Vec<usize> =
        lines(PTX).enumerate().filter(|(_, line)| line.ends_function()).map(|(at, _)| at + 1).collect();
    assert_eq!(ends, [31]);
}

#[test]
fn a_function_is_declared_or_defined() {
    let found: Vec<Definition<'_>> = definitions(PTX).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].function.is_kernel && found[0].function.name == "k");
    assert!(found[0].text.starts_with(".visible .entry k(\n") && found[0].text.ends_with("\tret;\n\n}"));
    assert!(found[0].body.starts_with("$L__func_begin0:\n") && found[0].body.ends_with("ret;\n\n"));
    // As nvcc writes results.
    let text = ".visible .func  (.param .align 16 .b8 func_retval0[16]) _Z1fv(\n)\n{\n}\n.func g\n;\n.func h()\n{\n}";
    let names: Vec<&str> = definitions(text).map(|definition| definition.function.name).collect();
    assert_eq!(names, ["_Z1fv", "h"]);
}

#[test]
fn words_span_lines() {
    let text =
        "call.uni (retval0), \n\tf, /* two\nlines */ (param0); // rest\n.file 1 \"/a b\"\n@!%p1 st.b8 [%rd1+-8], 0xFF;";
    let expected = "call.uni ( retval0 ) , f , ( param0 ) ; .file 1 @!%p1 st.b8 [ %rd1 + -8 ] , 0xFF ;".split(' ');
    assert!(words(text).eq(expected), "{:?}", words(text).collect::<Vec<_>>());
}

/// What holds of any text.
fn check(text: &str) {
    let mut end = 0;
    for line in lines(text) {
        assert_eq!(line.range.start, end, "a gap in {text:?}");
        end = line.range.end;
        assert!(text[line.range.clone()].starts_with(line.text), "{text:?}");
        assert!(line.text.contains(line.code()) && !line.text.contains('\n'), "{text:?}");
    }
    assert_eq!(end, text.len(), "{text:?}");
    assert_eq!(lines(text).map(|line| line.text).collect::<Vec<_>>(), text.lines().collect::<Vec<_>>());
    for found in definitions(text) {
        assert!(found.text.contains(found.body) && found.text.ends_with('}'), "{text:?}");
    }
    let length: usize = words(text).map(str::len).sum();
    assert!(length <= text.len() && words(text).all(|word| !word.is_empty()), "{text:?}");
    assert!(files(text).all(|(number, path)| text.contains(number) && text.contains(path)));
}

#[test]
fn the_lines_of_truncated_ptx_are_all_of_it() {
    for end in 0..=PTX.len() {
        check(&PTX[..end]);
        check(&PTX[end..]);
    }
}

#[test]
fn the_lines_of_any_text_are_all_of_it() {
    const PIECES: [&str; 24] = [
        "\n",
        "\r\n",
        "\t",
        " ",
        "{",
        "}",
        "(",
        ")",
        ";",
        ":",
        "//",
        "/*",
        "*/",
        "\"",
        ".loc",
        ".file",
        ".func",
        ".entry",
        ".section",
        ".target",
        "1",
        "name",
        "// begin inline asm\n",
        "// end inline asm\n",
    ];
    arbtest::arbtest(|u| {
        let mut text = String::new();
        while !u.is_empty() {
            if u.ratio(4, 5)? {
                text.push_str(u.choose(&PIECES)?);
            } else {
                text.push_str(&String::from_utf8_lossy(&u.arbitrary::<[u8; 3]>()?));
            }
        }
        check(&text);
        Ok(())
    });
}
