//! The report for the terminal.

use std::fmt::Write;

use super::kernel::{Kernel, Launch, Line};
use super::stalls::words;

/// What matters of these kernels, at most so many lines of each. `path` shortens a file's name.
pub fn text(kernels: &[Kernel], most: usize, path: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    for kernel in kernels {
        if !text.is_empty() {
            text.push('\n');
        }
        // Writing to a `String` does not fail.
        let _ = one(&mut text, kernel, most, &path);
    }
    text
}

fn one(text: &mut String, kernel: &Kernel, most: usize, path: &impl Fn(&str) -> String) -> std::fmt::Result {
    writeln!(text, "{}{}", kernel.name, launches(&kernel.launches))?;
    let samples: f64 = kernel.lines.iter().map(|line| line.samples).sum();
    let mut lines: Vec<&Line> = kernel.lines.iter().filter(|line| line.samples > 0.0).collect();
    lines.sort_by(|a, b| b.samples.total_cmp(&a.samples));
    let shown = &lines[..most.min(lines.len())];
    let places: Vec<String> = shown.iter().map(|line| format!("{}:{}", path(&line.file), line.number)).collect();
    let width = places.iter().map(|place| place.chars().count()).max().unwrap_or(0);
    for (line, place) in shown.iter().zip(&places) {
        let share = 100.0 * line.samples / samples;
        writeln!(text, "{}", format!("{share:5.1} %  {place:width$}  {}", line.source).trim_end())?;
        for remark in remarks(line) {
            writeln!(text, "{:9}{:width$}  = {remark}", "", "")?;
        }
    }
    let rest: f64 = lines[shown.len()..].iter().map(|line| line.samples).sum();
    if rest > 0.0 {
        writeln!(text, "{:5.1} %  {} more lines", 100.0 * rest / samples, lines.len() - shown.len())?;
    }
    if lines.is_empty() {
        writeln!(text, "  no line was seen at work: the kernel is too short for the sampler")?;
    }
    for advice in &kernel.advice {
        let speedup = advice.speedup.filter(|speedup| *speedup > 0.0);
        let speedup = speedup.map_or(String::new(), |speedup| format!(" (up to {speedup:.0} % faster)"));
        writeln!(text, "  ncu advises{speedup}: {}", advice.text)?;
    }
    Ok(())
}

/// The shape of the first, and what the sections say, on average.
fn launches(launches: &[Launch]) -> String {
    let Some(first) = launches.first() else { return String::new() };
    let mean = |figure: fn(&Launch) -> Option<f64>| {
        let figures: Vec<f64> = launches.iter().filter_map(figure).collect();
        (!figures.is_empty()).then(|| figures.iter().sum::<f64>() / figures.len() as f64)
    };
    let count = match launches.len() {
        1 => String::new(),
        count => format!(", and {} more launches", count - 1),
    };
    let figures: Vec<String> = [
        mean(|launch| launch.duration).map(duration),
        mean(|launch| launch.memory).map(|part| format!("memory {part:.0} % of its peak")),
        mean(|launch| launch.compute).map(|part| format!("arithmetic {part:.0} %")),
        mean(|launch| launch.occupancy).map(|part| format!("{part:.0} % of the warps active")),
    ]
    .into_iter()
    .flatten()
    .collect();
    format!(", grid {}, block {}{count}\n  {}", first.grid, first.block, figures.join(", "))
}

fn duration(nanoseconds: f64) -> String {
    match nanoseconds {
        n if n < 1e3 => format!("{n:.0} ns"),
        n if n < 1e6 => format!("{:.1} us", n / 1e3),
        n => format!("{:.1} ms", n / 1e6),
    }
}

/// What is worth saying of a line.
fn remarks(line: &Line) -> Vec<String> {
    let mut remarks = Vec::new();
    let mut stalls: Vec<_> = line.stalls.iter().collect();
    stalls.sort_by(|a, b| b.1.total_cmp(a.1));
    let waits = stalls.iter().map(|(reason, samples)| (words(reason), 100.0 * **samples / line.samples));
    let waits: Vec<String> = waits
        .take(2)
        .filter(|(_, share)| *share >= 10.0)
        .map(|(words, share)| format!("{words} {share:.0} %"))
        .collect();
    if !waits.is_empty() {
        remarks.push(format!("waits for {}", waits.join(", ")));
    }
    let threads = line.thread_executed / line.executed;
    if threads > 0.0 && threads < 24.0 {
        remarks.push(format!("{threads:.1} of 32 threads at work"));
    }
    let share = |part: f64, whole: f64| Some(100.0 * part / whole).filter(|share| *share >= 10.0);
    if let Some(share) = share(line.excessive_sectors, line.sectors) {
        remarks.push(format!("{share:.0} % of the sectors would be saved if neighbours used neighbouring elements"));
    }
    if let Some(share) = share(line.excessive_wavefronts, line.wavefronts) {
        remarks.push(format!("{share:.0} % of the accesses to shared memory are conflicts of banks"));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::super::kernel::Advice;
    use super::*;

    #[test]
    fn what_costs_most_comes_first() {
        let line = |number, samples, source: &str| Line {
            file: "/k/src/lib.rs".into(),
            number,
            samples,
            source: source.into(),
            ..Line::default()
        };
        let slow = Line {
            executed: 10.0,
            thread_executed: 80.0,
            sectors: 100.0,
            excessive_sectors: 75.0,
            wavefronts: 8.0,
            excessive_wavefronts: 4.0,
            stalls: [("long_sb".to_string(), 60.0), ("wait".to_string(), 15.0), ("barrier".to_string(), 3.0)].into(),
            ..line(9, 75.0, "*y += x;")
        };
        let launch = Launch {
            grid: "(8, 1, 1)".into(),
            block: "(256, 1, 1)".into(),
            duration: Some(13_216.0),
            memory: Some(91.2),
            occupancy: Some(78.0),
            compute: None,
        };
        let kernel = Kernel {
            name: "saxpy".into(),
            launches: vec![launch.clone(), Launch { duration: Some(15_216.0), ..launch }],
            advice: vec![Advice { text: "Use more blocks.".into(), speedup: Some(12.6) }],
            lines: vec![line(7, 20.0, ""), slow, line(8, 5.0, "b"), line(5, 0.0, "never")],
        };
        let path = |path: &str| path.trim_start_matches("/k/").to_string();
        let expected = "\
saxpy, grid (8, 1, 1), block (256, 1, 1), and 1 more launches
  14.2 us, memory 91 % of its peak, 78 % of the warps active
 75.0 %  src/lib.rs:9  *y += x;
                       = waits for global or local memory 80 %, the instruction before 20 %
                       = 8.0 of 32 threads at work
                       = 75 % of the sectors would be saved if neighbours used neighbouring elements
                       = 50 % of the accesses to shared memory are conflicts of banks
 20.0 %  src/lib.rs:7
  5.0 %  1 more lines
  ncu advises (up to 13 % faster): Use more blocks.
";
        assert_eq!(text(std::slice::from_ref(&kernel), 2, path), expected);
        let quick = Kernel { name: "quick".into(), ..Kernel::default() };
        assert!(
            text(&[kernel, quick], 2, path)
                .ends_with("\n\nquick\n  no line was seen at work: the kernel is too short for the sampler\n")
        );
    }
}
