//! `cargo ptx build --timings`: what a build spent its time on, as a table, as a drawing and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ptx_codegen::diagnostic::Result;
use ptx_codegen::files;
use ptx_codegen::timings::{KernelTime, Span, Timings};

use super::output;

/// The drawing's file, in the folder of the outputs.
pub const DRAWING: &str = "timings.svg";

/// The figures' file, beside it.
pub const FIGURES: &str = "timings.json";

/// Spans that take less than this share of the whole are left out of the table.
const NOTICEABLE: f64 = 0.002;

/// How many kernels are named, those that took ptxas longest.
const MOST_KERNELS: usize = 10;

/// Writes drawing and figures into the folder, and returns their paths.
pub fn write(timings: &Timings, folder: &Path) -> Result<[PathBuf; 2]> {
    let paths = [DRAWING, FIGURES].map(|name| folder.join(name));
    files::publish(&paths[0], draw(timings).as_bytes())?;
    files::publish(&paths[1], &serde_json::to_vec_pretty(timings).expect("timings are plain data"))?;
    Ok(paths)
}

/// A line for each span that is noticeable, with its parts below it, then for the slowest kernels.
pub fn table(timings: &Timings) -> String {
    let rows = |spans: &mut dyn Iterator<Item = (&Span, usize)>| -> Vec<Vec<String>> {
        let rows = spans.filter(|(span, _)| span.seconds() >= NOTICEABLE * timings.seconds);
        rows.map(|(span, depth)| row(&format!("{}{}", "  ".repeat(depth), span.name), span.seconds(), timings))
            .collect()
    };
    let mut sequence = rows(&mut in_order(timings).into_iter());
    sequence.push(row("all", timings.seconds, timings));
    let mut text = output::table(&["stage", "ms", "%"], &sequence);
    let beside = rows(&mut timings.spans.iter().filter(|span| span.beside).map(|span| (span, 0)));
    if !beside.is_empty() {
        text += "\n";
        text += &output::table(&["beside these", "ms", "%"], &beside);
    }
    let slowest = slowest(timings, MOST_KERNELS);
    if !slowest.is_empty() {
        let rows: Vec<_> = slowest
            .iter()
            .map(|kernel| vec![kernel.name.clone(), kernel.arch.clone(), millis(kernel.seconds)])
            .collect();
        let _ = write!(text, "\n{}", output::table(&["slowest in ptxas", "arch", "ms"], &rows));
    }
    if !timings.spans.iter().any(|span| span.name == "linker") {
        text += "\nnothing was compiled: everything was there already\n";
    }
    text
}

fn row(name: &str, seconds: f64, timings: &Timings) -> Vec<String> {
    let share = if timings.seconds > 0.0 { seconds / timings.seconds } else { 0.0 };
    vec![name.to_string(), millis(seconds), format!("{:.0}", share * 100.0)]
}

fn millis(seconds: f64) -> String {
    format!("{:.0}", seconds * 1e3)
}

fn slowest(timings: &Timings, most: usize) -> Vec<&KernelTime> {
    let mut kernels: Vec<_> = timings.kernels.iter().collect();
    kernels.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then_with(|| a.name.cmp(&b.name)));
    kernels.truncate(most);
    kernels
}

/// The spans that follow each other, each with how deep it is; parts after what they are a part of, in order of time.
fn in_order(timings: &Timings) -> Vec<(&Span, usize)> {
    let mut parts: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (index, span) in timings.spans.iter().enumerate().filter(|(_, span)| !span.beside) {
        parts.entry(span.parent).or_default().push(index);
    }
    for parts in parts.values_mut() {
        parts.sort_by(|a, b| timings.spans[*a].start.total_cmp(&timings.spans[*b].start));
    }
    let mut spans = Vec::new();
    // The next on top.
    let below = |parent, depth| {
        let parts = parts.get(&parent).map(Vec::as_slice).unwrap_or_default();
        parts.iter().rev().map(move |part| (*part, depth))
    };
    let mut open: Vec<(usize, usize)> = below(None, 0).collect();
    while let Some((index, depth)) = open.pop() {
        spans.push((&timings.spans[index], depth));
        open.extend(below(Some(index), depth + 1));
    }
    spans
}

/// Pixels of the time axis.
const WIDTH: f64 = 1160.0;

/// Pixels around everything.
const MARGIN: f64 = 20.0;

/// Pixels from one lane to the next.
const LANE: f64 = 22.0;

/// An SVG file: time to the right, parts below what they are a part of, processes of their own below that, and a bar for
/// each of the slowest kernels. Whoever points at a bar reads its name and time.
fn draw(timings: &Timings) -> String {
    let scale = WIDTH / timings.seconds.max(1e-9);
    let mut bars = String::new();
    let mut bar = |lane: f64, start: f64, seconds: f64, name: &str| {
        let (x, width) = (MARGIN + start * scale, (seconds * scale).max(0.5));
        let y = MARGIN + lane * LANE;
        let hue = name.bytes().fold(7_u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte))) % 360;
        let name = escaped(name);
        let _ = writeln!(
            bars,
            "<g><title>{name}: {:.1} ms, {:.1} %</title><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"20\" \
             fill=\"hsl({hue},60%,80%)\" stroke=\"#666\" stroke-width=\"0.4\"/>",
            seconds * 1e3,
            seconds * scale / WIDTH * 100.0,
        );
        // About 6 pixels a letter.
        if width > 6.0 * name.len() as f64 {
            let _ = writeln!(bars, "<text x=\"{:.1}\" y=\"{:.1}\">{name}</text>", x + 3.0, y + 14.0);
        }
        bars += "</g>\n";
    };
    let mut lanes = 1.0;
    for (span, depth) in in_order(timings) {
        bar(depth as f64 + 1.0, span.start, span.seconds(), &span.name);
        lanes = f64::max(lanes, depth as f64 + 2.0);
    }
    // Each in the first lane that is free by then.
    let mut free: Vec<f64> = Vec::new();
    for span in timings.spans.iter().filter(|span| span.beside) {
        let lane = free.iter().position(|end| *end <= span.start).unwrap_or(free.len());
        free.resize(free.len().max(lane + 1), 0.0);
        free[lane] = span.end;
        bar(lanes + 0.5 + lane as f64, span.start, span.seconds(), &span.name);
    }
    lanes += 1.0 + free.len() as f64;
    for kernel in slowest(timings, MOST_KERNELS) {
        bar(lanes, 0.0, kernel.seconds, &format!("{} for {} in ptxas", kernel.name, kernel.arch));
        lanes += 1.0;
    }
    bar(0.0, 0.0, timings.seconds, &format!("cargo ptx build: {:.2} s", timings.seconds));
    let (width, height) = (WIDTH + 2.0 * MARGIN, lanes * LANE + 2.0 * MARGIN);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{bars}</svg>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> Timings {
        let span = |name: &str, parent, start, end| Span { name: name.into(), parent, start, end, beside: false };
        let kernel = |name: &str, seconds| KernelTime { name: name.into(), arch: "sm_90".into(), seconds };
        Timings {
            begun: 0.0,
            seconds: 2.0,
            spans: vec![
                span("cargo", None, 0.0, 1.9),
                span("linker", Some(0), 0.5, 1.9),
                span("read", Some(1), 0.5, 0.6),
                span("input::read", Some(2), 0.5, 0.501),
                Span { beside: true, ..span("ptxas sm_90", None, 1.0, 1.8) },
                Span { beside: true, ..span("ptxas sm_100", None, 1.1, 1.9) },
                span("rustc", Some(0), 0.1, 0.5),
            ],
            kernels: vec![kernel("a", 0.1), kernel("b<c>", 0.4)],
        }
    }

    #[test]
    fn parts_stand_below_the_whole_in_order_of_time() {
        let expected = "\
stage       ms    %
cargo     1900   95
  rustc    400   20
  linker  1400   70
    read   100    5
all       2000  100

beside these   ms   %
ptxas sm_90   800  40
ptxas sm_100  800  40

slowest in ptxas  arch    ms
b<c>              sm_90  400
a                 sm_90  100
";
        assert_eq!(table(&measured()), expected, "and `input::read` is too short");
        let nothing = Timings { seconds: 0.2, ..Timings::default() };
        assert!(table(&nothing).ends_with("everything was there already\n"));
    }

    #[test]
    fn the_drawing_has_a_bar_for_everything() {
        let drawing = draw(&measured());
        // The background, the whole, seven spans, two kernels.
        assert_eq!(drawing.matches("<rect").count(), 11);
        assert!(drawing.contains("<title>input::read: 1.0 ms, 0.1 %</title>"), "{drawing}");
        assert!(drawing.contains("b&lt;c&gt; for sm_90"), "{drawing}");
        let line = |name: &str| drawing.lines().find(|line| line.contains(&format!("<title>{name}:"))).unwrap();
        let y =
            |name: &str| line(name).split(" y=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_string();
        assert_ne!(y("ptxas sm_90"), y("ptxas sm_100"), "they overlap");
    }

    #[test]
    fn files_are_written_over_and_a_folder_in_the_way_is_named() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join(DRAWING), "old").unwrap();
        let [drawing, figures] = write(&measured(), temp.path()).unwrap();
        assert!(std::fs::read_to_string(drawing).unwrap().starts_with("<svg"));
        let read: Timings = serde_json::from_slice(&std::fs::read(&figures).unwrap()).unwrap();
        assert_eq!(read, measured());
        let error = write(&measured(), &temp.path().join("none")).unwrap_err().to_string();
        assert!(error.contains("PTX0015") && error.contains(DRAWING), "{error}");
    }
}
