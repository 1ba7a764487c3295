//! The inline PTX of a panic: a claim at every place that can panic, and one report a function.
//!
//! A claim takes the host's `ptx_abi::panic::Record` and stores what only this place knows. A report of all places would have to
//! be handed that, and ptxas would compute it in front of the branch to the panic, where every thread runs it.
//!
//! The report fills in the rest and traps. It is code of every kernel, so it hands over a place's number, by which the host
//! finds the place's texts in the code that it loaded. Where a function is told at run time where it panics, the report copies
//! the texts. The file's name and the template end in NUL; the record's start is found by the mask, because all that is
//! written lies less than a page from there.
//!
//! The record is the host's memory, but only threads of one device compete for it: the scope of the exchanges is the device,
//! because compute-sanitizer takes wider ones there for errors.

use std::mem::offset_of;

use ptx_abi::panic::{DRAFT_SYMBOL, KNOWN, PARTS, PLACE, Parts, Record, SYMBOL, TEXT_LEN};
use ptx_abi::place::{NUMBER, TEXT_WORD};

use super::balance;
use crate::request::AfterPanic;

/// From the record's start: where the operands are put, and the addresses that the report goes by.
const WORDS: usize = offset_of!(Record, message) + offset_of!(Parts, words);
const MESSAGE: usize = offset_of!(Record, message) + offset_of!(Parts, message);
const LOCATION: usize = offset_of!(Record, detail);

/// What a claim hands over of its place and message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The address of a `core::panic::Location`, whose fields lie as `ptx-device` asserts: file, its length, line, column.
    /// There is no message.
    Location,
    /// Two addresses: of a location, and of a template.
    Both,
    /// The address of a `ptx_abi::place::Place`.
    Known,
}

impl Place {
    /// How many operands it is.
    pub fn operands(self) -> usize {
        if self == Self::Both { 2 } else { 1 }
    }
}

/// Who may have taken the record before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// Other threads alone.
    Others,
    /// The thread itself, too: the stack overflowed while its message was formatted on the device, which `ptx-device` notes
    /// in the draft.
    Itself,
}

/// Takes the record: `$1` and on are the place's operands and then `words`. `$0` is the record's address, plus one where it
/// is another thread's or where there is none.
pub fn claim(place: Place, words: usize, before: Before) -> String {
    let mut text = format!(
        "{{ .reg .pred %q; .reg .b32 %v; .reg .b64 %c;\n\
         ld.volatile.global.u64 $0, [{SYMBOL}];\n\
         mov.u32 %v, 1;\nsetp.ne.s64 %q, $0, 0;\n@%q atom.global.exch.b32 %v, [$0], %v;\n"
    );
    if before == Before::Itself {
        text += &claimed_before();
    }
    text += "setp.eq.s32 %q, %v, 0;\n";
    let addresses = [LOCATION, MESSAGE].into_iter().take(place.operands());
    for (operand, at) in addresses.chain((0..words).map(|word| WORDS + 8 * word)).enumerate() {
        text += &format!("@%q st.volatile.global.u64 [$0+{at}], ${};\n", operand + 1);
    }
    text + "cvt.u64.u32 %c, %v;\nor.b64 $0, $0, %c;\n}"
}

/// Makes `%v` zero where the draft says that this very thread took the record, `%q` being whether there is one.
fn claimed_before() -> String {
    let load = |at| format!("ld.volatile.global.u32 %x, [{DRAFT_SYMBOL}+{at}];\n");
    let mut text =
        format!("{{ .reg .pred %o; .reg .b32 %x, %y;\n{}setp.ne.u32 %o, %x, 1;\n", load(offset_of!(Record, ready)));
    for (register, field) in [("ctaid", offset_of!(Record, block)), ("tid", offset_of!(Record, thread))] {
        for (index, axis) in ["x", "y", "z"].iter().enumerate() {
            text += &load(field + 4 * index);
            text += &format!("mov.u32 %y, %{register}.{axis};\nsetp.ne.or.u32 %o, %x, %y, %o;\n");
        }
    }
    text + "selp.b32 %v, %v, 0, %o;\nselp.b32 %v, %v, 1, %q;\n}\n"
}

/// Fills the rest of the record that `$0` claimed, and ends the launch or the thread; `has_text` if one of the words can
/// be a text's address. Where there is no record, the launch always ends: nobody would see that the thread left. Threads that
/// wait multiply so often in each round.
pub fn report(place: Place, has_text: bool, before: Before, after: AfterPanic, multiplications: usize) -> String {
    // Who finds the record taken.
    let taken = match after {
        AfterPanic::Exit => count_another(),
        AfterPanic::Trap => "bra WAIT;\n".to_string(),
    };
    let texts = match place {
        Place::Known => number(has_text),
        Place::Location => location(after),
        Place::Both => location(after) + &message(has_text),
    };
    let mut text = format!(
        "{{ .reg .pred %q; .reg .b64 %b, %f; .reg .b32 %v{};\n\
         mov.b64 %b, $0;\ncvt.u32.u64 %v, %b;\nand.b32 %v, %v, 1;\nsetp.eq.s32 %q, %v, 0;\n@%q bra MINE;\n\
         setp.eq.s64 %q, %b, 1;\n@%q bra TRAP;\n{taken}\
         MINE:\nld.volatile.global.u64 %f, [%b+{LOCATION}];\n{texts}{}",
        if has_text { ", %n" } else { "" },
        ids(),
    );
    let ready = match place {
        Place::Known => KNOWN,
        Place::Location => PLACE,
        Place::Both => PARTS,
    };
    text += &format!("mov.u32 %v, {ready};\n");
    if after == AfterPanic::Exit && place != Place::Known {
        text += &format!("bra READY;\nSTALE:\nmov.u32 %v, {PLACE};\nREADY:\n");
    }
    if after == AfterPanic::Exit && before == Before::Itself {
        // A later panic of a thread of the same number is not this one's second.
        text += &format!("st.volatile.global.u32 [{DRAFT_SYMBOL}+{}], 0;\n", offset_of!(Record, ready));
    }
    text += &format!("membar.sys;\nst.volatile.global.u32 [%b+{}], %v;\nmembar.sys;\n", offset_of!(Record, ready));
    match after {
        AfterPanic::Exit => text + "exit;\nTRAP:\ntrap;\n}",
        AfterPanic::Trap => text + "TRAP:\ntrap;\n" + &balance::wait(multiplications),
    }
}

/// Adds the thread to those that came after the first, and ends it.
fn count_another() -> String {
    // The address is that of another thread's record plus one.
    format!("red.global.add.u32 [%b+{}], 1;\nexit;\n", offset_of!(Record, others) - 1)
}

/// Puts the number of the place at `%f` into the record, and copies the text of an operand.
fn number(has_text: bool) -> String {
    let text = if has_text {
        format!(
            "ld.volatile.u32 %v, [%f+{TEXT_WORD}];\n{}ld.volatile.global.u64 %f, [%b+{LOCATION}];\n",
            text_of_operand()
        )
    } else {
        String::new()
    };
    text + &format!("ld.volatile.u64 %f, [%f+{NUMBER}];\nst.volatile.global.u64 [%b+{LOCATION}], %f;\n")
}

/// Copies line, column and the file's name of the location at `%f`, if there is one. Few registers are its whole art: ptxas
/// moves loads up, so the numbers are exchanged, and unrolls what counts. What is exchanged was zero, unless a host clears the
/// record while a kernel writes it.
fn location(after: AfterPanic) -> String {
    let unclear = if after == AfterPanic::Exit { "STALE" } else { "TRAP" };
    let exchange =
        |at| format!("atom.global.exch.b32 %v, [%b+{at}], %v;\nsetp.ne.s32 %q, %v, 0;\n@%q bra {unclear};\n");
    format!(
        "setp.eq.s64 %q, %f, 0;\n@%q bra IDS;\n\
         ld.volatile.u32 %v, [%f+16];\n{}\
         ld.volatile.u32 %v, [%f+20];\n{}\
         ld.volatile.u64 %f, [%f];\n\
         NAME:\nld.volatile.u8 %v, [%f];\nsetp.eq.u32 %q, %v, 0;\n@%q bra IDS;\n\
         st.volatile.global.u8 [%b+{}], %v;\nmembar.cta;\nadd.s64 %f, %f, 1;\nadd.s64 %b, %b, 1;\nbra NAME;\n\
         IDS:\nand.b64 %b, %b, -4096;\n",
        exchange(offset_of!(Record, line)),
        exchange(offset_of!(Record, column)),
        offset_of!(Record, file),
    )
}

/// Stores block and thread, whose six numbers lie one behind the other.
fn ids() -> String {
    let (block, thread) = (offset_of!(Record, block), offset_of!(Record, thread));
    const { assert!(offset_of!(Record, thread) == offset_of!(Record, block) + 12) };
    const { assert!(offset_of!(Record, block) % 16 == 0) };
    let registers = ["ctaid.x", "ctaid.y", "ctaid.z", "tid.x", "tid.y", "tid.z"];
    let reads = registers.iter().enumerate().map(|(at, register)| format!("mov.u32 %i{at}, %{register};\n"));
    format!(
        "{{ .reg .b32 %i<6>;\n{}st.volatile.global.v4.u32 [%b+{block}], {{%i0, %i1, %i2, %i3}};\n\
         st.volatile.global.v2.u32 [%b+{}], {{%i4, %i5}};\n}}\n",
        reads.collect::<String>(),
        thread + 4,
    )
}

/// Copies the template, and the text of an operand, to the message.
fn message(has_text: bool) -> String {
    let template = offset_of!(Record, message) + offset_of!(Parts, template);
    let mut text = format!("ld.volatile.global.u64 %f, [%b+{MESSAGE}];\n");
    if has_text {
        text += &format!("ld.volatile.u8 %v, [%f];\nst.volatile.global.u32 [%b+{LOCATION}], %v;\n");
    }
    text += &format!(
        "TEMPLATE:\nadd.s64 %f, %f, 1;\nld.volatile.u8 %v, [%f];\nsetp.eq.u32 %q, %v, 0;\n@%q bra WRITTEN;\n\
         st.volatile.global.u8 [%b+{template}], %v;\nmembar.cta;\nadd.s64 %b, %b, 1;\nbra TEMPLATE;\n\
         WRITTEN:\nand.b64 %b, %b, -4096;\n"
    );
    if has_text {
        text += &format!("ld.volatile.global.u32 %v, [%b+{LOCATION}];\n{}", text_of_operand());
    }
    text
}

/// Copies the text whose address is the operands' word `%v`, from 1, and whose length is the next; nothing with 0.
fn text_of_operand() -> String {
    format!(
        "setp.eq.u32 %q, %v, 0;\n@%q bra DONE;\n\
         mul.wide.u32 %f, %v, 8;\nadd.s64 %f, %f, %b;\n\
         ld.volatile.global.u32 %n, [%f+{WORDS}];\nmin.u32 %n, %n, {TEXT_LEN};\n\
         ld.volatile.global.u64 %f, [%f+{}];\n\
         TEXT:\nsetp.eq.u32 %q, %n, 0;\n@%q bra DONE;\n\
         ld.volatile.u8 %v, [%f];\nst.volatile.global.u8 [%b+{}], %v;\nmembar.cta;\n\
         add.s64 %f, %f, 1;\nadd.s64 %b, %b, 1;\nsub.u32 %n, %n, 1;\nbra TEXT;\n\
         DONE:\nand.b64 %b, %b, -4096;\n",
        WORDS - 8,
        offset_of!(Record, message) + offset_of!(Parts, text),
    )
}
