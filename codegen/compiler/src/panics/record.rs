//! The inline PTX of a panic: a claim at every place that can panic, and one report a function.
//!
//! A claim takes the record of `ptx_abi::panic` and stores what only this place knows. A report of all places would have to
//! be handed that, and ptxas would compute it in front of the branch to the panic, where every thread runs it.
//!
//! Claims are most of what panics are, so a claim asks nothing. Its exchange gives the first thread the address of what it
//! alone writes, and all others that of the record, at whose beginning they write what nobody reads. Where there is no host,
//! both are memory of the module's own. No two threads get the first address before the host has written it again, which it
//! does when that of the last panic is ready or its kernel over. So the first thread's stores are the only ones to where they
//! go, and as their addresses come from the exchange, none precedes it.
//!
//! A place is handed over by its number, by which the host finds the place's texts in the code that it loaded: a number of 32
//! bits, because a kernel that copies has eight registers, and a claim that must do with as many has the record's address,
//! a slice's length and an index. The number and an operand of 32 bits are one store. Where a function is told at run time
//! where it panics, the report copies the texts. The file's name and the template end in NUL.
//!
//! The report looks at the address: only what the first thread gets has the bit `IS_OWN`, because records are aligned to
//! more. It fills in the rest and traps. It is code of every kernel: what says that the record is ready is the address's lower
//! half, for which it needs no register more.
//!
//! The record is the host's memory, but only threads of one device compete for it: the scope of the exchanges is the device,
//! because compute-sanitizer takes wider ones there for errors.

use std::mem::offset_of;

use ptx_abi::panic::{DRAFT_SYMBOL, IS_OWN, OWN, PARTS, PLACE, Parts, Position, Record, SYMBOL, TEXT_LEN};

use super::balance;
use crate::request::AfterPanic;

/// From what the first thread writes: where the operands are put, and the addresses that the report goes by.
const WORDS: usize = own(offset_of!(Record, words));
const MESSAGE: usize = own(offset_of!(Record, message_at));
const LOCATION: usize = own(offset_of!(Record, detail));
const NUMBER: usize = LOCATION;
/// Which word, from 1, is a text's address; 0, as the host clears it, if none is.
const TEXT_WORD: usize = MESSAGE;

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
    /// The address of a `ptx_abi::place::Place` of which this much is known. The address itself is not used: it is an operand
    /// so that the place stays in the module.
    Known(Known),
    /// The number of any such place, and if its message may have a text among its words, which word that is; 32 bits each.
    Given { has_text: bool },
}

/// What is known of a place when its claim is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// By which the host finds it.
    pub number: u32,
    /// Which word, from 1, is handed over beside the number, of 32 bits; 0 if none is.
    pub beside: u32,
    /// Which word, from 1, is the address of a text; 0 if none is.
    pub text: u32,
}

impl Place {
    /// How many operands it is.
    pub fn operands(self) -> usize {
        if matches!(self, Self::Both | Self::Given { has_text: true }) { 2 } else { 1 }
    }

    /// Stores what it is, and which word need not be stored any more.
    fn claim(self) -> (String, Option<usize>) {
        let store = |at: usize, bits: u32, what: &str| format!("st.volatile.global.u{bits} [$0+{at}], {what};\n");
        match self {
            Self::Location => (store(LOCATION, 64, "$1"), None),
            Self::Both => (store(LOCATION, 64, "$1") + &store(MESSAGE, 64, "$2"), None),
            Self::Known(Known { number, beside, text }) => {
                // As many digits for each, so that they are found in a text.
                let number = format!("{number:#010x}");
                let beside = (beside as usize).checked_sub(1);
                let stored = match beside {
                    None => store(NUMBER, 32, &number),
                    Some(word) => {
                        format!("st.volatile.global.v2.u32 [$0+{NUMBER}], {{{number}, ${}}};\n", 2 + word)
                    }
                };
                (stored + &if text > 0 { store(TEXT_WORD, 32, &text.to_string()) } else { String::new() }, beside)
            }
            Self::Given { has_text } => {
                let text = if has_text { store(TEXT_WORD, 32, "$2") } else { String::new() };
                (store(NUMBER, 32, "$1") + &text, None)
            }
        }
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
    let (mut stores, stored) = place.claim();
    let words = widths.iter().enumerate().filter(|(word, _)| Some(*word) != stored);
    for (word, bits) in words {
        let (at, operand) = (WORDS + 8 * word, 1 + place.operands() + word);
        stores += &format!("st.volatile.global.u{bits} [$0+{at}], ${operand};\n");
    }
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
    for (index, number) in NUMBERS.iter().enumerate() {
        text += &load(offset_of!(Record, position) + 4 * index);
        text += &format!("mov.u32 %y, %{number};\nsetp.ne.or.u32 %o, %x, %y, %o;\n");
    }
    text + &format!("add.s64 %c, %r, {OWN};\nselp.b64 $0, $0, %c, %o;\n}}\n")
}

/// Fills the rest of the record that `$0` claimed, and ends the launch or the thread; `has_text` if one of the words can
/// be a text's address. Where there is no host, the launch always ends: nobody would see that the thread left. Threads that
/// find the record taken multiply so often. The function knows these of [`NUMBERS`] already.
pub fn report(
    place: Place,
    has_text: bool,
    before: Before,
    after: AfterPanic,
    multiplications: usize,
    known: &[&str],
) -> String {
    // Who finds the record taken.
    let taken = match after {
        AfterPanic::Exit => count_another(multiplications),
        AfterPanic::Trap => balance::wait(multiplications),
    };
    let texts = match place {
        Place::Location => location(after),
        Place::Both => location(after) + &message(has_text),
        // The host has the place's texts.
        _ if has_text => format!("ld.volatile.global.u32 %v, [%b+{TEXT_WORD}];\n{}", text_of_operand()),
        _ => String::new(),
    };
    let mut text = format!(
        "{{ .reg .pred %q; .reg .b64 %b, %f; .reg .b32 %v{};\n\
         mov.b64 %b, $0;\ncvt.u32.u64 %v, %b;\nand.b32 %v, %v, {IS_OWN};\nsetp.eq.s32 %q, %v, 0;\n@%q bra OTHERS;\n\
         {texts}{}",
        if has_text { ", %n" } else { "" },
        ids(known),
    );
    text += &match place {
        Place::Location => format!("mov.u32 %v, {PLACE};\n"),
        Place::Both => format!("mov.u32 %v, {PARTS};\n"),
        _ => "cvt.u32.u64 %v, %b;\n".into(),
    };
    if after == AfterPanic::Exit && matches!(place, Place::Location | Place::Both) {
        text += &format!("bra READY;\nSTALE:\nmov.u32 %v, {PLACE};\nREADY:\n");
    }
    if after == AfterPanic::Exit && before == Before::Itself {
        // A later panic of a thread of the same number is not this one's second.
        text += &format!("st.volatile.global.u32 [{DRAFT_SYMBOL}+{}], 0;\n", offset_of!(Record, ready));
    }
    const { assert!(offset_of!(Record, ready) == OWN) };
    text += "st.release.sys.global.u32 [%b], %v;\nmembar.sys;\n";
    text += &match after {
        AfterPanic::Exit => end_of_first(),
        AfterPanic::Trap => "TRAP:\ntrap;\n".into(),
    };
    text + &format!("OTHERS:\n{taken}}}")
}

/// Ends the thread, or the launch where no host would see that it left.
fn end_of_first() -> String {
    let nobody = offset_of!(Record, nobody);
    format!(
        "ld.const.u64 %f, [{SYMBOL}];\nld.volatile.global.u32 %v, [%f+{nobody}];\nsetp.ne.s32 %q, %v, 0;\n@%q trap;\n\
         exit;\n"
    )
}

/// Adds the thread to those that came after the first, and ends it.
fn count_another(multiplications: usize) -> String {
    let others = offset_of!(Record, others);
    format!("{}red.global.add.u32 [%b+{others}], %v;\nexit;\n", balance::one(multiplications))
}

/// Copies line, column and the file's name of the location that was claimed with, if there is one. Few registers are its
/// whole art: ptxas moves loads up, so the numbers are exchanged, and unrolls what counts. What is exchanged was zero, unless a
/// host clears the record while a kernel writes it.
fn location(after: AfterPanic) -> String {
    let unclear = if after == AfterPanic::Exit { "STALE" } else { "TRAP" };
    let exchange =
        |at| format!("atom.global.exch.b32 %v, [%b+{at}], %v;\nsetp.ne.s32 %q, %v, 0;\n@%q bra {unclear};\n");
    format!(
        "ld.volatile.global.u64 %f, [%b+{LOCATION}];\nsetp.eq.s64 %q, %f, 0;\n@%q bra IDS;\n\
         ld.volatile.u32 %v, [%f+16];\n{}\
         ld.volatile.u32 %v, [%f+20];\n{}\
         ld.volatile.u64 %f, [%f];\n\
         NAME:\nld.volatile.u8 %v, [%f];\nsetp.eq.u32 %q, %v, 0;\n@%q bra IDS;\n\
         st.volatile.global.u8 [%b+{}], %v;\nmembar.cta;\nadd.s64 %f, %f, 1;\nadd.s64 %b, %b, 1;\nbra NAME;\n\
         IDS:\n{}",
        exchange(own(offset_of!(Record, line))),
        exchange(own(offset_of!(Record, column))),
        own(offset_of!(Record, file)),
        BACK,
    )
}

/// Makes `%b` again what the first thread got, behind what counts it up.
const BACK: &str = "mov.b64 %b, $0;\n";

/// The numbers of a [`Position`], in its order.
pub const NUMBERS: [&str; 6] = ["ctaid.x", "tid.x", "ctaid.y", "tid.y", "ctaid.z", "tid.z"];

const _: () = {
    assert!(offset_of!(Position, block_x) == 0 && offset_of!(Position, thread_x) == 4);
    assert!(offset_of!(Position, block_y) == 8 && offset_of!(Position, thread_y) == 12);
    assert!(offset_of!(Position, block_z) == 16 && offset_of!(Position, thread_z) == 20);
    assert!(offset_of!(Record, position).is_multiple_of(8));
};

/// Stores block and thread. For ptxas, a number that the function has read at its start is the same one here, and it would keep
/// it in a register until here: 2 to 6 of many kernels. It does not do so where those are read in rounds, and it does not know
/// which round is the first: it is told by the bit that the claimed address has.
fn ids(known: &[&str]) -> String {
    let is_known = |number: &&str| known.contains(number);
    let (mut in_rounds, mut at_once) = (Vec::new(), String::new());
    for (axis, numbers) in NUMBERS.chunks(2).enumerate() {
        let at = own(offset_of!(Record, position)) + 8 * axis;
        if let [block, thread] = numbers
            && !numbers.iter().any(is_known)
        {
            at_once += &format!(
                "mov.u32 %i, %{block};\nmov.u32 %j, %{thread};\nst.volatile.global.v2.u32 [%b+{at}], {{%i, %j}};\n"
            );
            continue;
        }
        for (number, at) in numbers.iter().zip([at, at + 4]) {
            let text = format!("mov.u32 %i, %{number};\nst.volatile.global.u32 [%b+{at}], %i;\n");
            if is_known(number) {
                in_rounds.push(text);
            } else {
                at_once += &text;
            }
        }
    }
    // ptxas has a register for each number of a round: of four, a kernel that asks for two axes has them anyway.
    let in_a_round = if in_rounds.len() > 4 { 1 } else { 4 };
    let rounds: Vec<String> = in_rounds.chunks(in_a_round).map(<[String]>::concat).collect();
    format!("{{ .reg .b32 %i, %j;\n{}{at_once}}}\n", if rounds.is_empty() { String::new() } else { by_turns(&rounds) })
}

/// Does one of these a round, and nothing in a last one. Nothing else ends the loop for ptxas, which would do what the round
/// before its end does behind it.
fn by_turns(rounds: &[String]) -> String {
    let turns: String = rounds
        .iter()
        .enumerate()
        .map(|(at, round)| {
            let leave = if at + 1 < rounds.len() { "bra AFTER;\n" } else { "" };
            format!("setp.ne.u32 %q, %v, {};\n@%q bra NEXT{at};\n{round}{leave}NEXT{at}:\n", IS_OWN + at)
        })
        .collect();
    let again = match rounds.len() {
        // As `%q` still says.
        1 => "@!%q".into(),
        count => format!("setp.le.u32 %q, %v, {};\n@%q", IS_OWN + count),
    };
    format!(
        "cvt.u32.u64 %v, $0;\nand.b32 %v, %v, {IS_OWN};\nROUND:\n.pragma \"nounroll\";\n{turns}\
         AFTER:\nadd.u32 %v, %v, 1;\n{again} bra ROUND;\n"
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
         WRITTEN:\n{BACK}"
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
        BACK,
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
    fn each_number_is_stored_once_where_the_host_reads_it() {
        for known in 0..1 << NUMBERS.len() {
            let known: Vec<&str> =
                (0..NUMBERS.len()).filter(|index| known >> index & 1 == 1).map(|index| NUMBERS[index]).collect();
            let text = ids(&known);
            let (mut stored, mut read) = (Vec::new(), Vec::new());
            for line in text.lines() {
                if let Some((_, number)) = line.strip_prefix("mov.u32 ").and_then(|rest| rest.split_once(", %")) {
                    read.push(number.trim_end_matches(';'));
                } else if let Some((_, rest)) = line.split_once("u32 [%b+") {
                    let at: usize = rest.split(']').next().unwrap().parse().unwrap();
                    assert_eq!((OWN + at) % (4 * read.len()), 0, "aligned: {text}");
                    for (index, number) in read.drain(..).enumerate() {
                        let place = (OWN + at - offset_of!(Record, position)) / 4 + index;
                        assert_eq!(NUMBERS[place], number, "{text}");
                        stored.push(number);
                    }
                }
            }
            let rounds = text.split("ROUND:").nth(1).and_then(|rest| rest.split("add.u32").next()).unwrap_or_default();
            for number in NUMBERS {
                assert_eq!(stored.iter().filter(|other| **other == number).count(), 1, "{text}");
                assert_eq!(rounds.contains(&format!("%{number};")), known.contains(&number), "{text}");
            }
        }
    }

    /// The driver may align the one of a module's own less than the host aligns its.
    #[test]
    fn a_report_asks_no_alignment_of_the_record() {
        for place in [Place::Given { has_text: true }, Place::Location, Place::Both] {
            for after in [AfterPanic::Trap, AfterPanic::Exit] {
                let report = report(place, true, Before::Others, after, 0, &NUMBERS);
                assert!(!report.contains("and.b64"), "{report}");
                let (moved, back) = (report.matches("add.s64 %b, %b, 1;").count(), report.matches(BACK).count());
                assert_eq!(back, moved + 1, "{report}");
            }
        }
    }

    #[test]
    fn a_claim_asks_nothing() {
        let known = Known { number: 0x1234, beside: 2, text: 0 };
        let claim = claim(Place::Known(known), &[64, 32], Before::Others);
        assert!(!claim.contains("setp") && !claim.contains('@') && !claim.contains("bra"), "{claim}");
        assert_eq!(claim.matches("[__ptx_panic]").count(), 1);
    }

    /// The host takes a word that is beside the number from there, and all others from their own places.
    #[test]
    fn each_word_is_stored_once() {
        for beside in 0..=3 {
            let known = Known { number: 0x1234, beside, text: 0 };
            let widths = [1, 2, 3].map(|word| if word == beside { 32 } else { 64 });
            let claim = claim(Place::Known(known), &widths, Before::Others);
            assert_eq!(claim.matches("0x00001234").count(), 1, "{claim}");
            for word in 1..=3 {
                assert_eq!(claim.matches(&format!("${}", 1 + word)).count(), 1, "{claim}");
                let is_beside = claim.contains(&format!("{{0x00001234, ${}}}", 1 + word));
                assert_eq!(is_beside, word == beside as usize, "{claim}");
            }
        }
    }
}
