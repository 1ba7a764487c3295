//! Cuts one function out of PTX, LLVM IR or a disassembly.

use ptx_codegen::ptx_text;

/// The `.entry` or `.func` of that name, with its header.
pub fn ptx<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    ptx_text::definitions(text).find(|definition| definition.function.name == name).map(|definition| definition.text)
}

/// The `define` of that name.
pub fn llvm<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let begins = |line: &str| {
        line.starts_with("define ")
            && line
                .split_once('@')
                .is_some_and(|(_, rest)| is_name(rest, name) || is_name(rest, &format!("\"{name}\"")))
    };
    let mut start = None;
    let mut position = 0;
    for line in text.split_inclusive('\n') {
        if start.is_none() && begins(line) {
            start = Some(position);
        }
        position += line.len();
        // The brace in the first column ends it.
        if let Some(start) = start.filter(|_| line.starts_with('}')) {
            return Some(text[start..position].trim_end());
        }
    }
    None
}

/// The section `.text.name` of nvdisasm's output.
pub fn sass<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let start = text.find(&format!("//--------------------- .text.{name} "))?;
    let rest = &text[start..];
    let end = rest[2..].find("//---------------------").map_or(rest.len(), |end| end + 2);
    Some(rest[..end].trim_end())
}

/// Whether `rest` begins with the whole name.
fn is_name(rest: &str, name: &str) -> bool {
    rest.strip_prefix(name).is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || "_$.".contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_function_of_the_ptx() {
        let text = ".version 7.0\n.func  (.param .b32 r) helper(\n);\n.visible .entry k2(\n\t.param .u32 a\n)\n{\n\tret;\n}\n\
                    .visible .entry k(\n)\n.maxntid 256, 1, 1\n{\n\t{ // callseq\n\t} // callseq\n\tret;\n}\n// end\n";
        assert_eq!(
            ptx(text, "k").unwrap(),
            ".visible .entry k(\n)\n.maxntid 256, 1, 1\n{\n\t{ // callseq\n\t} // callseq\n\tret;\n}"
        );
        assert!(ptx(text, "k2").unwrap().starts_with(".visible .entry k2("));
        assert_eq!(ptx(text, "helper"), None, "it is declared only; it used to be all up to the next function's end");
        assert_eq!(ptx(text, "absent"), None);
    }

    #[test]
    fn one_function_of_the_ir() {
        let text = "define internal i32 @kk(i32 %0) {\n  ret i32 %0\n}\n\ndefine ptx_kernel void @k(ptr %0) #0 {\n  ret void\n}\n";
        assert_eq!(llvm(text, "k").unwrap(), "define ptx_kernel void @k(ptr %0) #0 {\n  ret void\n}");
        assert_eq!(llvm(text, "absent"), None);
    }

    #[test]
    fn one_section_of_the_disassembly() {
        let text = "\t.target\tsm_80\n//--------------------- .text.k2 ------\nA\n//--------------------- .text.k ------\nB\nC\n\n";
        assert_eq!(sass(text, "k").unwrap(), "//--------------------- .text.k ------\nB\nC");
        assert_eq!(sass(text, "k2").unwrap(), "//--------------------- .text.k2 ------\nA");
        assert_eq!(sass(text, "absent"), None);
    }
}
