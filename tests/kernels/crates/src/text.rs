//! Text: search, scripts and parsers.

use alloc::vec::Vec;

use crate::data::{Digest, Random};

#[inline(never)]
pub fn aho_corasick(random: &mut Random, digest: &mut Digest) {
    use aho_corasick::automaton::Automaton;
    use aho_corasick::nfa::contiguous::NFA;
    use aho_corasick::{Input, MatchKind};

    let text = random.text(30);
    for kind in [MatchKind::LeftmostLongest, MatchKind::LeftmostFirst] {
        let mut builder = NFA::builder();
        builder.match_kind(kind).ascii_case_insensitive(true);
        let Ok(automaton) = builder.build(["warp", "warp-wide", "grid", "ker", "x"]) else { continue };
        let Ok(matches) = automaton.try_find_iter(Input::new(&text)) else { continue };
        for found in matches {
            digest.add((found.pattern().as_usize(), found.start(), found.end()));
        }
    }
}

#[inline(never)]
pub fn bstr(random: &mut Random, digest: &mut Digest) {
    use bstr::{BString, ByteSlice};

    let mut text = BString::from(random.text(20));
    text.push(0xff);
    digest.add(text.find("warp"));
    digest.add(text.rfind(b"\xff"));
    digest.add(text.replace("Grid", "block").to_vec());
    digest.add(text.to_str_lossy());
    digest.add(text.graphemes().count());
    digest.add(text.words().map(str::len).collect::<Vec<_>>());
    digest.add(text.fields().map(|field| field.to_uppercase()).collect::<Vec<_>>());
    digest.add(text.trim_end().len());
}

#[inline(never)]
pub fn heck(random: &mut Random, digest: &mut Digest) {
    use heck::{ToLowerCamelCase, ToShoutySnakeCase, ToTitleCase};

    let text = random.text(5);
    digest.add((text.to_shouty_snake_case(), text.to_lower_camel_case(), text.to_title_case()));
}

#[inline(never)]
pub fn memchr(random: &mut Random, digest: &mut Digest) {
    let text = random.text(40);
    let bytes = text.as_bytes();
    digest.add(memchr::memchr(b'G', bytes));
    digest.add(memchr::memrchr(b'w', bytes));
    digest.add(memchr::memchr3_iter(b'a', b'1', b'-', bytes).collect::<Vec<_>>());
    digest.add(memchr::memmem::find_iter(bytes, "warp").collect::<Vec<_>>());
    digest.add(memchr::memmem::rfind(bytes, "löwe 4090".as_bytes()));
    digest.add(memchr::memmem::Finder::new("the kernel").find(bytes));
}

#[inline(never)]
pub fn nom(random: &mut Random, digest: &mut Digest) {
    use nom::branch::alt;
    use nom::bytes::complete::tag;
    use nom::character::complete::{char, digit1, multispace0};
    use nom::combinator::{map_res, recognize};
    use nom::multi::{fold_many0, separated_list1};
    use nom::sequence::{delimited, pair, separated_pair};
    use nom::{IResult, Parser};

    fn number(text: &str) -> IResult<&str, u64> {
        map_res(delimited(multispace0, digit1, multispace0), str::parse).parse(text)
    }
    fn sum(text: &str) -> IResult<&str, u64> {
        let (rest, first) = number(text)?;
        let more = pair(alt((char('+'), char('*'))), number);
        let next = |sum: u64, (operator, number)| if operator == '+' { sum + number } else { sum * number % 9973 };
        fold_many0(more, move || first, next).parse(rest)
    }
    let mut text = alloc::format!("{}", random.below(1000));
    for number in random.numbers(8, 1000) {
        text.push_str(["+", " * ", "+ "][number as usize % 3]);
        text.push_str(&alloc::format!("{number}"));
    }
    digest.add(sum(&text).ok());
    text.push_str(" end");
    digest.add(sum(&text).ok());
    digest.add(sum("x").is_err());
    let mut pairs = separated_list1(char(';'), separated_pair(digit1, tag("->"), recognize(sum)));
    let list: IResult<&str, Vec<(&str, &str)>> = pairs.parse("1->2+3;44->5;6->");
    digest.add(list.ok());
}

#[inline(never)]
pub fn unicode_normalization(random: &mut Random, digest: &mut Digest) {
    use alloc::string::String;

    use unicode_normalization::UnicodeNormalization;

    let text = random.text(12);
    digest.add(text.nfd().collect::<String>());
    digest.add(text.nfc().collect::<String>());
    digest.add(text.chars().chain(['ﬁ', '각', '①']).nfkd().collect::<String>());
    digest.add(unicode_normalization::is_nfc(&text));
}

#[inline(never)]
pub fn unicode_segmentation(random: &mut Random, digest: &mut Digest) {
    use unicode_segmentation::UnicodeSegmentation;

    let text = random.text(12);
    digest.add(text.graphemes(true).rev().collect::<Vec<_>>());
    digest.add(text.unicode_words().collect::<Vec<_>>());
    digest.add(text.split_word_bound_indices().map(|(at, _)| at).collect::<Vec<_>>());
    digest.add(text.unicode_sentences().count());
}

#[inline(never)]
pub fn unicode_width(random: &mut Random, digest: &mut Digest) {
    use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

    let text = random.text(20);
    digest.add(text.width());
    digest.add(text.chars().map(UnicodeWidthChar::width).collect::<Vec<_>>());
    digest.add("👩‍🔬\u{7}".width());
}

#[inline(never)]
pub fn winnow(random: &mut Random, digest: &mut Digest) {
    use winnow::ascii::{dec_int, hex_digit1, space0};
    use winnow::combinator::{alt, delimited, preceded, repeat, separated};
    use winnow::token::take_while;
    use winnow::{ModalResult, Parser};

    fn value(input: &mut &str) -> ModalResult<i64> {
        let hexadecimal = preceded("0x", hex_digit1).try_map(|digits| i64::from_str_radix(digits, 16));
        alt((hexadecimal, dec_int)).parse_next(input)
    }
    fn list(input: &mut &str) -> ModalResult<Vec<i64>> {
        delimited('[', separated(0.., value, (space0, ',', space0)), ']').parse_next(input)
    }
    let numbers = random.numbers(6, 5000);
    let text = alloc::format!("[{}, 0x{:x} ,-{},{}]", numbers[0], numbers[1], numbers[2], numbers[3]);
    digest.add(list.parse(&text).ok());
    digest.add(list.parse(&text[1..]).is_err());
    let words = random.text(6);
    let word = take_while(1.., char::is_alphabetic).map(str::len);
    let mut lengths = repeat(0.., preceded(space0::<&str, winnow::error::ContextError>, word));
    let mut text = &*words;
    let lengths: Result<Vec<usize>, _> = lengths.parse_next(&mut text);
    digest.add((lengths.ok(), text));
}
