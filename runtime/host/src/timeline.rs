//! When streams and the host worked at what: a trace that Perfetto and Chrome's `about:tracing` show.
//!
//! An event before and one behind the work of a span cost a microsecond or so each, and hold nothing up.

use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaEvent, CudaStream};

use crate::device::Device;
use crate::driver::Doing;
use crate::error::Result;

/// Milliseconds after which times count from a later event: `cuEventElapsedTime` gives 24 bits, which are half a microsecond's
/// steps up to eight seconds.
const FAR: f64 = 4000.0;

/// The host's row; streams follow.
const HOST: usize = 0;

/// Spans of work on a device's streams and on the host, with the times at which each began and ended. [`Device::timeline`] makes it.
///
/// ```
/// # use ptx_host::{Device, Result};
/// # fn run(device: &Device, input: &[f32]) -> Result<()> {
/// let timeline = device.timeline()?;
/// let stream = device.new_stream()?;
/// timeline.name(&stream, "copies");
/// let input = timeline.host("prepare", || input.repeat(2));
/// let x = device.upload(&input)?;
/// let copied = timeline.span(&stream, "download", || device.download_later(&x, &stream))?;
/// std::fs::write("trace.json", timeline.finish()?).expect("a folder that can be written");
/// # Ok(())
/// # }
/// ```
///
/// Open the file in <https://ui.perfetto.dev>: it stays on your machine. The host has a row, and each stream one.
pub struct Timeline {
    device: Device,
    begin: Instant,
    zero: CudaEvent,
    records: Mutex<Records>,
}

#[derive(Default)]
struct Records {
    /// The streams' handles, and what they are called.
    streams: Vec<(usize, String)>,
    device: Vec<OnDevice>,
    /// Microseconds.
    host: Vec<Span>,
}

struct OnDevice {
    name: String,
    row: usize,
    begin: CudaEvent,
    end: CudaEvent,
}

/// Microseconds since the timeline was made.
#[derive(Clone, Debug, PartialEq)]
struct Span {
    name: String,
    row: usize,
    begin: f64,
    length: f64,
}

impl Device {
    /// A timeline that begins now. It waits for the work on the device.
    ///
    /// # Errors
    /// What [`synchronize`](Self::synchronize) gives.
    pub fn timeline(&self) -> Result<Timeline> {
        // So that the event ends at once, and both clocks begin together.
        self.synchronize()?;
        let zero = self.stream().record_event(Some(CUevent_flags::CU_EVENT_DEFAULT)).doing(doing)?;
        zero.synchronize().doing(doing)?;
        Ok(Timeline { device: self.clone(), begin: Instant::now(), zero, records: Mutex::default() })
    }
}

impl Timeline {
    /// Notes when the device begins and ends what `work` puts on the stream: two events, `cuEventRecord`. It waits for nothing.
    ///
    /// Spans of one stream may lie in each other. The stream must not be captured.
    ///
    /// # Errors
    /// Those of `work`, whose span is then left out; and if the stream is another device's.
    pub fn span<T>(&self, stream: &CudaStream, name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.device.own(stream)?;
        let event = || stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT)).doing(doing);
        let begin = event()?;
        let result = work()?;
        let end = event()?;
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let row = records.row(stream);
        records.device.push(OnDevice { name: name.to_owned(), row, begin, end });
        Ok(result)
    }

    /// Notes when the host begins and ends `work`.
    pub fn host<T>(&self, name: &str, work: impl FnOnce() -> T) -> T {
        let begin = self.begin.elapsed().as_secs_f64();
        let result = work();
        let length = self.begin.elapsed().as_secs_f64() - begin;
        let span = Span { name: name.to_owned(), row: HOST, begin: begin * 1e6, length: length * 1e6 };
        self.records.lock().unwrap_or_else(PoisonError::into_inner).host.push(span);
        result
    }

    /// What the stream's row is called: else `stream 1` and so on, in the order of their first spans.
    pub fn name(&self, stream: &CudaStream, name: &str) {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let row = records.row(stream);
        records.streams[row - 1].1 = name.to_owned();
    }

    /// Waits for the device, and gives the trace as JSON, in Chrome's Trace Event Format.
    ///
    /// # Errors
    /// What [`synchronize`](Device::synchronize) gives.
    pub fn finish(self) -> Result<String> {
        self.device.synchronize()?;
        let records = self.records.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (mut anchor, mut at) = (&self.zero, 0.0);
        let mut spans = records.host;
        for span in &records.device {
            let begin = at + f64::from(anchor.elapsed_ms(&span.begin).doing(doing)?);
            let length = f64::from(span.begin.elapsed_ms(&span.end).doing(doing)?);
            spans.push(Span {
                name: span.name.clone(),
                row: span.row,
                begin: begin * 1e3,
                length: length.max(0.0) * 1e3,
            });
            if begin - at > FAR {
                (anchor, at) = (&span.begin, begin);
            }
        }
        let rows = std::iter::once("host").chain(records.streams.iter().map(|(_, name)| name.as_str()));
        Ok(json(self.device.name(), rows, &spans))
    }
}

impl Records {
    /// The stream's row, a new one for a new stream.
    fn row(&mut self, stream: &CudaStream) -> usize {
        let handle = stream.cu_stream() as usize;
        let known = self.streams.iter().position(|(known, _)| *known == handle);
        HOST + 1
            + known.unwrap_or_else(|| {
                let name = format!("stream {}", self.streams.len() + 1);
                self.streams.push((handle, name));
                self.streams.len() - 1
            })
    }
}

fn doing() -> String {
    "measuring time on a stream".to_owned()
}

/// Trace Event Format, "JSON Object Format": complete events (`X`), and metadata events (`M`) with the names of the rows, all of
/// one process.
fn json<'a>(device: &str, rows: impl Iterator<Item = &'a str>, spans: &[Span]) -> String {
    let mut text = String::from("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    // Writing to a `String` does not fail.
    let _ = write!(text, r#"{{"ph":"M","pid":1,"name":"process_name","args":{{"name":{}}}}}"#, quoted(device));
    for (row, name) in rows.enumerate() {
        let name = quoted(name);
        let _ = write!(
            text,
            ",\n{{\"ph\":\"M\",\"pid\":1,\"tid\":{row},\"name\":\"thread_name\",\"args\":{{\"name\":{name}}}}}"
        );
        let _ = write!(
            text,
            ",\n{{\"ph\":\"M\",\"pid\":1,\"tid\":{row},\"name\":\"thread_sort_index\",\"args\":{{\"sort_index\":{row}}}}}"
        );
    }
    for Span { name, row, begin, length } in spans {
        let category = if *row == HOST { "host" } else { "device" };
        let name = quoted(name);
        let _ = write!(
            text,
            ",\n{{\"ph\":\"X\",\"pid\":1,\"tid\":{row},\"cat\":\"{category}\",\"name\":{name},\"ts\":{begin:.3},\"dur\":{length:.3}}}"
        );
    }
    text + "\n]}\n"
}

/// RFC 8259, section 7.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if u32::from(c) < 0x20 => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted() {
        assert_eq!(quoted("a \"b\" \\ \n ü"), r#""a \"b\" \\ \u000a ü""#);
    }
}
