//! The inline PTX of a panic: a claim at every place that can panic, and one report a function.
//!
//! A claim takes the record of `ptx_abi::panic` and stores what only this place knows. A report of all places would have to
//! be handed that, and ptxas would compute it in front of the branch to the panic, where every thread runs it.
//!
//! Claims are most of what panics are, so a claim asks nothing. Its exchange gives the first thread the address of what it
//! alone writes, and all others that of the record, at whose beginning they write what nobody reads. Where there is no host,
//! the record is one of the module's own, with such a beginning and no more. No two threads get the first address before the
//! host has written it again, which it does when that of the last panic is ready or its kernel over. So the first thread's
//! stores are the only ones to where they go, and as their addresses come from the exchange, none precedes it.
//!
//! The report looks at the address: only what the first thread of a host's record gets has the bit `IS_OWN`, because records
//! are aligned to more. It fills in the rest and traps. It is code of every kernel, so it hands over a place's number, by which
//! the host finds the place's texts in the code that it loaded. Where a function is told at run time where it panics, the
//! report copies the texts. The file's name and the template end in NUL; the record's start is found by the mask, because all
//! that is written lies less than a page from there.
//!
//! The record is the host's memory, but only threads of one device compete for it: the scope of the exchanges is the device,
//! because compute-sanitizer takes wider ones there for errors.

use std::mem::offset_of;

use ptx_abi::panic::{DRAFT_SYMBOL, HOST_ALIGN, IS_OWN, KNOWN, OWN, PARTS, PLACE, Parts, Record, SYMBOL, TEXT_LEN};
use ptx_abi::place::{NUMBER, TEXT_WORD};

use super::balance;
use crate::request::AfterPanic;

/// From what the first thread writes: where the operands are put, and the addresses that the report goes by.
const WORDS: usize = own(offset_of!(Record, words));
const MESSAGE: usize = own(offset_of!(Record, message_at));
const LOCATION: usize = own(offset_of!(Record, detail));

/// How far a field lies from what the first thread writes.
const fn own(field: usize) -> usize {
    assert!(field >= OWN);
    field - OWN
}

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

/// Takes the record: `$1` and on are the place's operands and then those of the message, each of 32 bits or 64. `$0` is the
/// address of what the first thread writes, or of a record or of [nobody's](ptx_abi::panic::NOBODY_WORDS).
///
/// The upper half of an operand of 32 bits is zero, because the host clears the record before it may be taken.
pub fn claim(place: Place, widths: &[u32], before: Before) -> String {
    let addresses = [LOCATION, MESSAGE].into_iter().take(place.operands()).map(|at| (at, 64));
    let words = widths.iter().enumerate().map(|(word, bits)| (WORDS + 8 * word, *bits));
    let stores: String = addresses
        .chain(words)
        .enumerate()
        .map(|(operand, (at, bits))| format!("st.volatile.global.u{bits} [$0+{at}], ${};\n", operand + 1))
        .collect();
    match before {
        Before::Others => {
            format!("ld.const.u64 $0, [{SYMBOL}];\natom.global.exch.b64 $0, [$0], $0;\n{stores}")
        }
        Before::Itself => format!(
            "{{ .reg .b64 %r;\nld.const.u64 %r, [{SYMBOL}];\natom.global.exch.b64 $0, [%r], %r;\n{}{stores}}}",
            claimed_before()
        ),
    }
}

/// Makes `$0` what the first thread gets where the draft says that this very thread took the record at `%r`, and a host
/// reads it.
fn claimed_before() -> String {
    let load = |at| format!("ld.volatile.global.u32 %x, [{DRAFT_SYMBOL}+{at}];\n");
    let mut text = format!(
        "{{ .reg .pred %o; .reg .b32 %x, %y; .reg .b64 %c;\n\
         {}setp.ne.u32 %o, %x, 1;\nld.volatile.global.u32 %x, [%r+{}];\nsetp.ne.or.u32 %o, %x, 0, %o;\n",
        load(offset_of!(Record, ready)),
        offset_of!(Record, nobody),
    );
    for (register, field) in [("ctaid", offset_of!(Record, block)), ("tid", offset_of!(Record, thread))] {
        for (index, axis) in ["x", "y", "z"].iter().enumerate() {
            text += &load(field + 4 * index);
            text += &format!("mov.u32 %y, %{register}.{axis};\nsetp.ne.or.u32 %o, %x, %y, %o;\n");
        }
    }
    text + &format!("add.s64 %c, %r, {OWN};\nselp.b64 $0, $0, %c, %o;\n}}\n")
}

/// Fills the rest of the record that `$0` claimed, and ends the launch or the thread; `has_text` if one of the words can
/// be a text's address. Where there is no host, the launch always ends: nobody would see that the thread left. Threads that
/// wait multiply so often in each round.
pub fn report(place: Place, has_text: bool, before: Before, after: AfterPanic, multiplications: usize) -> String {
    // Who finds the record taken.
    let taken = match after {
        AfterPanic::Exit => count_another() + "}",
        AfterPanic::Trap => balance::wait(multiplications),
    };
    let texts = match place {
        Place::Known => number(has_text),
        Place::Location => location(after),
        Place::Both => location(after) + &message(has_text),
    };
    let mut text = format!(
        "{{ .reg .pred %q; .reg .b64 %b, %f; .reg .b32 %v{};\n\
         mov.b64 %b, $0;\ncvt.u32.u64 %v, %b;\nand.b32 %v, %v, {IS_OWN};\nsetp.eq.s32 %q, %v, 0;\n@%q bra OTHERS;\n\
         ld.volatile.global.u64 %f, [%b+{LOCATION}];\n{texts}{}",
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
    const { assert!(offset_of!(Record, ready) == OWN) };
    text += "membar.sys;\nst.volatile.global.u32 [%b], %v;\nmembar.sys;\n";
    text += match after {
        AfterPanic::Exit => "exit;\n",
        AfterPanic::Trap => "TRAP:\ntrap;\n",
    };
    // The address is that of a record. A branch to the trap above would have ptxas wait there for both ways.
    let nobody = offset_of!(Record, nobody);
    text + &format!("OTHERS:\nld.volatile.global.u32 %v, [%b+{nobody}];\nsetp.ne.s32 %q, %v, 0;\n@%q trap;\n{taken}")
}

/// Adds the thread to those that came after the first, and ends it.
fn count_another() -> String {
    format!("red.global.add.u32 [%b+{}], 1;\nexit;\n", offset_of!(Record, others))
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
         IDS:\n{}",
        exchange(own(offset_of!(Record, line))),
        exchange(own(offset_of!(Record, column))),
        own(offset_of!(Record, file)),
        back(),
    )
}

/// Makes `%b` what the first thread got, of any address that is less than a page from the record.
fn back() -> String {
    const { assert!(HOST_ALIGN.is_power_of_two() && OWN < HOST_ALIGN) };
    format!("and.b64 %b, %b, -{HOST_ALIGN};\nor.b64 %b, %b, {OWN};\n")
}

/// Stores block and thread, whose six numbers lie one behind the other, a number a round. Read in a row, they would be for
/// ptxas those that the kernel asked for at its start, which it would keep in registers until here: 2 to 6 of many kernels.
/// So it must not know at which round it begins: the record's lowest bits are 0, and the same for all threads.
fn ids() -> String {
    const NUMBERS: [&str; 6] = ["ctaid.x", "ctaid.y", "ctaid.z", "tid.x", "tid.y", "tid.z"];
    const { assert!(offset_of!(Record, thread) == offset_of!(Record, block) + 12) };
    format!(
        "{{ .reg .b32 %i;\nld.const.u32 %v, [{SYMBOL}];\nand.b32 %v, %v, {};\n\
         .pragma \"nounroll\";\nNUMBER:\n{}\
         PUT:\nst.volatile.global.u32 [%b+{}], %i;\nadd.s64 %b, %b, 4;\nadd.s32 %v, %v, 1;\n\
         setp.lt.u32 %q, %v, {count};\n@%q bra NUMBER;\nsub.s64 %b, %b, {};\n}}\n",
        HOST_ALIGN - 1,
        number_of(&NUMBERS, 0),
        own(offset_of!(Record, block)),
        4 * NUMBERS.len(),
        count = NUMBERS.len(),
    )
}

/// Makes `%i` the number of round `%v`, one of those from `first` on.
fn number_of(numbers: &[&str], first: usize) -> String {
    if let [number] = numbers {
        return format!("mov.u32 %i, %{number};\nbra PUT;\n");
    }
    let (low, high) = numbers.split_at(numbers.len() / 2);
    let middle = first + low.len();
    format!(
        "setp.ge.u32 %q, %v, {middle};\n@%q bra FROM{middle};\n{}FROM{middle}:\n{}",
        number_of(low, first),
        number_of(high, middle),
    )
}

/// Copies the template, and the text of an operand, to the message.
fn message(has_text: bool) -> String {
    let template = own(offset_of!(Record, message)) + offset_of!(Parts, template);
    let mut text = format!("ld.volatile.global.u64 %f, [%b+{MESSAGE}];\n");
    if has_text {
        text += &format!("ld.volatile.u8 %v, [%f];\nst.volatile.global.u32 [%b+{LOCATION}], %v;\n");
    }
    text += &format!(
        "TEMPLATE:\nadd.s64 %f, %f, 1;\nld.volatile.u8 %v, [%f];\nsetp.eq.u32 %q, %v, 0;\n@%q bra WRITTEN;\n\
         st.volatile.global.u8 [%b+{template}], %v;\nmembar.cta;\nadd.s64 %b, %b, 1;\nbra TEMPLATE;\n\
         WRITTEN:\n{}",
        back()
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
         DONE:\n{}",
        WORDS - 8,
        own(offset_of!(Record, message)) + offset_of!(Parts, text),
        back(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_write_lies_before_what_the_first_writes() {
        let most = claim(Place::Both, &[64; ptx_abi::panic::WORDS], Before::Others);
        let distances = most.split("[$0+").skip(1).filter_map(|rest| rest.split(']').next()?.parse::<usize>().ok());
        let distances: Vec<usize> = distances.collect();
        assert_eq!(distances.len(), 2 + ptx_abi::panic::WORDS);
        for distance in distances {
            assert!(distance >= offset_of!(Record, lost) && distance + 8 <= OWN, "{distance}");
        }
    }

    #[test]
    fn a_claim_asks_nothing() {
        let claim = claim(Place::Known, &[64, 32], Before::Others);
        assert!(!claim.contains("setp") && !claim.contains('@') && !claim.contains("bra"), "{claim}");
        assert_eq!(claim.matches("[__ptx_panic]").count(), 1);
    }
}
