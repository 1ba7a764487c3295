//! Reads ncu's tables.
//!
//! ```text
//! "File Path","src/lib.rs"
//! "Function Name","saxpy"
//! "Line No","Source","Address","Source","Warp Stall Sampling (All Samples)","# Samples","Instructions Executed",…,"stall_long_sb",…
//! "12","*y += a * x[i.get()];","","","410","410","4096",…,"377",…
//! "","","0x7f…","LDG.E R2, [R2]","400",…
//! ```
//!
//! A row with a line's number has the sums of the instructions that follow it. Columns come and go with ncu's versions, so each
//! is found by its name.

use super::kernel::{Advice, Kernel, Launch, Line};
use super::stalls::reason;

/// The kernels and their lines, from the page `source`; the same kernel's launches add up.
pub fn lines(table: &str) -> Vec<Kernel> {
    let mut kernels: Vec<Kernel> = Vec::new();
    let (mut file, mut header) = (String::new(), Vec::new());
    for row in rows(table) {
        let cell = |column: usize| row.get(column).map_or("", String::as_str);
        match cell(0) {
            "File Path" => file = cell(1).to_string(),
            "Function Name" | "Kernel Name" => {
                let name = plain(cell(1));
                let known = kernels.iter().position(|kernel| kernel.name == name);
                let index = known.unwrap_or_else(|| {
                    kernels.push(Kernel { name: name.to_string(), ..Kernel::default() });
                    kernels.len() - 1
                });
                // The last one is the one that rows belong to.
                let kernel = kernels.remove(index);
                kernels.push(kernel);
            }
            "Line No" => header = row,
            // An instruction, or a table of instructions alone.
            number => {
                if let (Ok(number), Some(kernel)) = (number.parse(), kernels.last_mut()) {
                    kernel.add(line(&header, &row, &file, number));
                }
            }
        }
    }
    kernels.retain(|kernel| !kernel.lines.is_empty());
    kernels
}

impl Kernel {
    fn add(&mut self, line: Line) {
        let same = self.lines.iter_mut().find(|known| (&known.file, known.number) == (&line.file, line.number));
        match same {
            None => self.lines.push(line),
            Some(known) => {
                known.samples += line.samples;
                known.executed += line.executed;
                known.thread_executed += line.thread_executed;
                known.sectors += line.sectors;
                known.excessive_sectors += line.excessive_sectors;
                known.wavefronts += line.wavefronts;
                known.excessive_wavefronts += line.excessive_wavefronts;
                line.stalls
                    .into_iter()
                    .for_each(|(reason, samples)| *known.stalls.entry(reason).or_default() += samples);
            }
        }
    }
}

fn line(header: &[String], row: &[String], file: &str, number: u32) -> Line {
    let mut line = Line {
        file: file.to_string(),
        number,
        source: row.get(1).map_or("", |source| source.trim()).to_string(),
        ..Line::default()
    };
    for (name, value) in header.iter().zip(row) {
        let Some(value) = self::number(value) else { continue };
        match name.as_str() {
            // Before 2022.2 it was the second.
            "Warp Stall Sampling (All Samples)" | "Sampling Data (All)" => line.samples = value,
            "Instructions Executed" => line.executed = value,
            "Thread Instructions Executed" => line.thread_executed = value,
            "L2 Theoretical Sectors Global" => line.sectors = value,
            "L2 Theoretical Sectors Global Excessive" => line.excessive_sectors = value,
            "L1 Wavefronts Shared" => line.wavefronts = value,
            "L1 Wavefronts Shared Excessive" => line.excessive_wavefronts = value,
            _ => {
                if let Some(reason) = reason(name).filter(|_| value > 0.0) {
                    line.stalls.insert(reason.to_string(), value);
                }
            }
        }
    }
    line
}

/// What the sections and rules say, from the page `details`: a row a figure, a launch's rows together.
pub fn details(table: &str, kernels: &mut Vec<Kernel>) {
    let mut header: Vec<String> = Vec::new();
    let mut last = None;
    for row in rows(table) {
        if row.first().is_some_and(|first| first == "ID") {
            header = row;
            continue;
        }
        let of = |name: &str| {
            let column = header.iter().position(|known| known == name);
            column.and_then(|column| row.get(column)).map_or("", String::as_str)
        };
        let (id, name) = (of("ID"), plain(of("Kernel Name")));
        if id.parse::<u64>().is_err() || name.is_empty() {
            continue;
        }
        let index = kernels.iter().position(|kernel| kernel.name == name).unwrap_or_else(|| {
            kernels.push(Kernel { name: name.to_string(), ..Kernel::default() });
            kernels.len() - 1
        });
        let kernel = &mut kernels[index];
        if last.as_deref() != Some(id) {
            last = Some(id.to_string());
            let (grid, block) = (of("Grid Size").to_string(), of("Block Size").to_string());
            kernel.launches.push(Launch { grid, block, ..Launch::default() });
        }
        let Some(launch) = kernel.launches.last_mut() else { continue };
        let value = number(of("Metric Value"));
        match of("Metric Name") {
            "Duration" => launch.duration = value.zip(nanoseconds(of("Metric Unit"))).map(|(value, unit)| value * unit),
            "Compute (SM) Throughput" => launch.compute = value,
            "Memory Throughput" if of("Metric Unit") == "%" => launch.memory = value,
            "Achieved Occupancy" => launch.occupancy = value,
            _ => {}
        }
        let text = of("Rule Description").trim();
        if of("Rule Type") == "OPT" && !kernel.advice.iter().any(|known| known.text == text) {
            kernel.advice.push(Advice { text: text.to_string(), speedup: number(of("Estimated Speedup")) });
        }
    }
}

/// What is no table, such as a warning of ncu's, is a row of one cell that nobody looks for.
fn rows(table: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(table.as_bytes());
    let rows = reader.records().map_while(Result::ok);
    rows.map(|row| row.iter().map(str::to_string).collect()).collect()
}

/// A C++ name comes with its parameters, `scale(float, int)`.
fn plain(name: &str) -> &str {
    name.split('(').next().unwrap_or_default().trim()
}

/// As ncu writes it: `1,234.5`, or a dash.
fn number(text: &str) -> Option<f64> {
    text.replace(',', "").trim().parse().ok()
}

/// In one of these units.
fn nanoseconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" | "nsecond" => 1.0,
        "us" | "usecond" => 1e3,
        "ms" | "msecond" => 1e6,
        "s" | "second" => 1e9,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r##"==WARNING== Found outdated metrics.
"File Path","src/lib.rs"
"Function Name","saxpy"
"Line No","Source","Address","Source","Warp Stall Sampling (All Samples)","Warp Stall Sampling (Not-issued Samples)","# Samples","Instructions Executed","Thread Instructions Executed","L2 Theoretical Sectors Global","L2 Theoretical Sectors Global Excessive","stall_barrier","stall_long_sb","stall_long_sb (Not Issued)","stall_selected"
"9","    if let Some(y) = y.get_mut(i) {","","","25","10","25","1,024","32,768","0","0","-","0","0","5"
"","","0x7f0000000100","ISETP.GE R1, R2","25","10","25","1,024","32,768","0","0","-","0","0","5"
"10","        *y += a * x[i.get()], ""q"";","","","75","60","75","2048","65536","4000","3,000","0","70","60","5"
"","","0x7f0000000200","LDG.E R2","75","60","75","2048","65536","4000","3000","0","70","60","5"

"File Path","/rustc/0123/library/core/src/num/mod.rs"
"Function Name","saxpy"
"Line No","Source","Address","Source","Warp Stall Sampling (All Samples)"
"7","","","","3"
"File Path","src/lib.rs"
"Function Name","saxpy(float, int)"
"Line No","Source","Address","Source","Warp Stall Sampling (All Samples)"
"10","","","","5"
"##;

    #[test]
    fn lines_have_their_sums() {
        let kernels = lines(SOURCE);
        let [kernel] = &kernels[..] else { panic!("{kernels:?}") };
        assert_eq!(kernel.name, "saxpy");
        let places: Vec<_> = kernel.lines.iter().map(|line| (line.file.as_str(), line.number, line.samples)).collect();
        let core = "/rustc/0123/library/core/src/num/mod.rs";
        assert_eq!(places, [("src/lib.rs", 9, 25.0), ("src/lib.rs", 10, 80.0), (core, 7, 3.0)]);
        let line = &kernel.lines[1];
        assert_eq!(line.source, "*y += a * x[i.get()], \"q\";");
        assert_eq!((line.executed, line.thread_executed), (2048.0, 65536.0));
        assert_eq!((line.sectors, line.excessive_sectors), (4000.0, 3000.0));
        let stalls: Vec<_> = line.stalls.iter().map(|(reason, samples)| (reason.as_str(), *samples)).collect();
        assert_eq!(stalls, [("long_sb", 70.0)]);
    }

    #[test]
    fn a_table_of_instructions_alone_has_no_lines() {
        let sass = "\"Kernel Name\",\"saxpy\"\n\"Address\",\"Source\",\"# Samples\"\n\"0x100\",\"EXIT\",\"4\"\n";
        assert_eq!(lines(sass), []);
        assert_eq!(lines(""), []);
    }

    const DETAILS: &str = r#""ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup"
"0","12","demo","127.0.0.1","saxpy","1","7","(256, 1, 1)","(4096, 1, 1)","0","9.0","GPU Speed Of Light Throughput","Memory Throughput","%","91.20","","","","",""
"0","12","demo","127.0.0.1","saxpy","1","7","(256, 1, 1)","(4096, 1, 1)","0","9.0","GPU Speed Of Light Throughput","Duration","nsecond","13,216","","","","",""
"0","12","demo","127.0.0.1","saxpy","1","7","(256, 1, 1)","(4096, 1, 1)","0","9.0","GPU Speed Of Light Throughput","Compute (SM) Throughput","%","14","","","","",""
"0","12","demo","127.0.0.1","saxpy","1","7","(256, 1, 1)","(4096, 1, 1)","0","9.0","Memory Workload Analysis","Memory Throughput","byte/second","3000000000","","","","",""
"0","12","demo","127.0.0.1","saxpy","1","7","(256, 1, 1)","(4096, 1, 1)","0","9.0","Occupancy","","","","AchievedOccupancy","OPT","Fewer warps than could be.","global","12.5"
"1","12","demo","127.0.0.1","saxpy","1","7","(256, 1, 1)","(8, 1, 1)","0","9.0","Occupancy","Achieved Occupancy","%","78.1","","","","",""
"1","12","demo","127.0.0.1","saxpy","1","7","(256, 1, 1)","(8, 1, 1)","0","9.0","Occupancy","","","","AchievedOccupancy","OPT","Fewer warps than could be.","global","12.5"
"1","12","demo","127.0.0.1","saxpy","1","7","(256, 1, 1)","(8, 1, 1)","0","9.0","Source Counters","","","","Uncoalesced","INF","Nothing to do.","",""
"#;

    #[test]
    fn launches_have_their_figures() {
        let mut kernels = lines(SOURCE);
        details(DETAILS, &mut kernels);
        let [kernel] = &kernels[..] else { panic!("{kernels:?}") };
        let [first, second] = &kernel.launches[..] else { panic!("{kernel:?}") };
        assert_eq!((first.grid.as_str(), first.block.as_str()), ("(4096, 1, 1)", "(256, 1, 1)"));
        assert_eq!((first.duration, first.memory, first.compute), (Some(13216.0), Some(91.2), Some(14.0)));
        assert_eq!((second.grid.as_str(), second.occupancy), ("(8, 1, 1)", Some(78.1)));
        assert_eq!(kernel.advice, [Advice { text: "Fewer warps than could be.".into(), speedup: Some(12.5) }]);
    }
}
