//! Formats of data and of time.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::data::{Digest, Random};

/// What is written and read.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Record {
    id: u64,
    name: String,
    #[serde(default)]
    parts: Vec<Part>,
    weight: f64,
}

/// What is only written: ptxas takes a minute for the code that reads structs and enums from JSON.
#[derive(serde::Serialize)]
struct Flat {
    id: u64,
    name: String,
    parts: Vec<u32>,
    weight: f64,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum Part {
    Empty,
    One(i16),
    Pair { left: Option<u8>, right: bool },
}

fn record(random: &mut Random) -> Record {
    let parts = random.numbers(4, 300).into_iter().map(|number| match number % 3 {
        0 => Part::Empty,
        1 => Part::One(number as i16 - 150),
        _ => Part::Pair { left: u8::try_from(number).ok(), right: number % 2 == 0 },
    });
    let parts = parts.collect();
    Record { id: random.word(), name: random.text(3), parts, weight: random.float() }
}

#[inline(never)]
pub fn chrono(random: &mut Random, digest: &mut Digest) {
    use chrono::{DateTime, Datelike, Days, FixedOffset, NaiveDate, TimeDelta, Timelike};

    let Some(time) = DateTime::from_timestamp(random.below(4_000_000_000) as i64 - 1_000_000_000, 5) else { return };
    digest.add((time.year(), time.ordinal(), time.iso_week().week(), time.weekday().num_days_from_monday()));
    let later = time + TimeDelta::milliseconds(random.below(1 << 40) as i64);
    digest.add(((later - time).num_hours(), later.hour(), later.nanosecond()));
    let zone = FixedOffset::east_opt(5 * 3600 + 1800);
    digest.add(zone.map(|zone| later.with_timezone(&zone).to_rfc3339()));
    digest.add(time.format("%a %e %b %Y %H:%M:%S").to_string());
    digest.add(DateTime::parse_from_rfc3339(&later.to_rfc3339()).is_ok_and(|read| read == later));
    let date = NaiveDate::from_ymd_opt(2024, 2, 28);
    digest.add(date.and_then(|date| date.checked_add_days(Days::new(random.below(900) as u64))));
}

#[inline(never)]
pub fn httparse(random: &mut Random, digest: &mut Digest) {
    let text = alloc::format!(
        "GET /{:x}?q=1 HTTP/1.1\r\nHost: gpu{}.example\r\nAccept: */*\r\nContent-Length: {}\r\n\r\nbody",
        random.word(),
        random.below(100),
        random.below(10_000)
    );
    for len in [text.len(), random.below(text.len())] {
        let mut headers = [httparse::EMPTY_HEADER; 4];
        let mut request = httparse::Request::new(&mut headers);
        let status = request.parse(&text.as_bytes()[..len]);
        digest.add(status.is_ok_and(|status| status.is_complete()));
        digest.add((request.method, request.path, request.version));
        for header in request.headers.iter() {
            digest.add((header.name, header.value));
        }
    }
    let mut headers = [httparse::EMPTY_HEADER; 1];
    digest.add(httparse::Response::new(&mut headers).parse(b"HTTP/1.1 2x0 OK\r\n\r\n").is_err());
    digest.add(httparse::parse_chunk_size(b"1fE\r\n").is_ok_and(|status| status.unwrap() == (5, 0x1fe)));
}

#[inline(never)]
pub fn postcard(random: &mut Random, digest: &mut Digest) {
    let record = record(random);
    let Ok(bytes) = postcard::to_allocvec(&record) else { return };
    digest.add(&bytes);
    digest.add(postcard::from_bytes(&bytes) == Ok(record));
    digest.add(postcard::from_bytes::<Record>(&bytes[..bytes.len() / 2]).is_err());
    let mut buffer = [0; 20];
    digest.add(postcard::to_slice(&(random.word(), -5_i32), &mut buffer).map(|used| used.len()).ok());
    digest.add(buffer);
}

#[inline(never)]
pub fn serde(random: &mut Random, digest: &mut Digest) {
    use serde::Deserialize;
    use serde::de::value::{Error, MapDeserializer, SeqDeserializer};

    let pairs = random.numbers(6, 50).into_iter().map(|number| (number, number * 3));
    let map = alloc::collections::BTreeMap::<u8, u64>::deserialize(MapDeserializer::<_, Error>::new(pairs));
    digest.add(map.ok());
    let tuple = <(i8, u32, u64)>::deserialize(SeqDeserializer::<_, Error>::new(random.numbers(3, 200).into_iter()));
    digest.add(tuple.ok());
}

#[inline(never)]
pub fn serde_json(random: &mut Random, digest: &mut Digest) {
    use serde_json::{Value, json};

    let flat = Flat { id: random.word(), name: random.text(3), parts: random.numbers(4, 300), weight: random.float() };
    let Ok(text) = serde_json::to_string(&flat) else { return };
    digest.add(&text);
    let mut value = json!({ "list": [1, -2.5, null, "\u{1}é"], "text": text, "of": { "a": random.float() } });
    value["list"][1] = json!(random.word());
    let text = value.to_string();
    digest.add(&text);
    digest.add(serde_json::from_str::<Value>(&text[..text.len() - 1]).map_err(|error| error.to_string()).err());
    let read: Result<Value, _> = serde_json::from_str(&text);
    digest.add(read.ok().and_then(|read| Some(read.pointer("/of/a")?.as_f64()?.to_bits())));
}

#[inline(never)]
pub fn time(random: &mut Random, digest: &mut Digest) {
    use time::{Date, Duration, Month, OffsetDateTime, UtcOffset};

    let Ok(time) = OffsetDateTime::from_unix_timestamp(random.below(4_000_000_000) as i64 - 1_000_000_000) else {
        return;
    };
    digest.add((time.year(), time.ordinal(), time.iso_week(), time.weekday().number_from_monday()));
    let later = time.saturating_add(Duration::seconds_f64(random.float() * 1e8));
    digest.add(((later - time).whole_minutes(), later.nanosecond()));
    if let Ok(offset) = UtcOffset::from_hms(-3, -30, 0) {
        digest.add(later.to_offset(offset).to_hms());
        digest.add(later.to_offset(offset).to_string());
    }
    let date = Date::from_calendar_date(2024, Month::February, 29).ok();
    digest.add(date.and_then(|date| date.replace_year(2023).ok()).is_none());
    digest.add(date.map(Date::to_julian_day));
}
