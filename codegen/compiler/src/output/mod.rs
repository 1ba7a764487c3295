//! Writes outputs: all of them or none, each whole when it appears under its name.

mod fatbin;

use crate::artifact::Artifact;
use crate::diagnostic::Result;
use crate::files::{self, Pending};
use crate::report::{self, OutputFile, Report};
use crate::request::{Emit, Linking, Options};
use crate::scratch;

/// Writes what was asked for, all or nothing: the PTX of the first arch to the output that rustc named, and everything to the
/// output folder if there is one; the report goes there last.
pub fn write(options: &Options, mut artifacts: Vec<Artifact>, report: &mut Report) -> Result<()> {
    artifacts.sort_by_key(|artifact| (artifact.arch, artifact.kind, artifact.part));
    if options.emit.contains(&Emit::Fatbin) {
        let bytes = fatbin::pack(options, &artifacts)?;
        artifacts.push(Artifact { kind: Emit::Fatbin, arch: None, part: None, bytes });
    }
    // Where the cubin is linked, the PTX is only a part.
    let linked = options.linking() == Linking::AtBuild;
    let for_image = options.emit.contains(&Emit::CubinParts);
    let kept = |kind| match kind {
        Emit::Ptx => true,
        Emit::Cubin => linked || for_image || options.emit.contains(&kind),
        _ => options.emit.contains(&kind),
    };
    artifacts.retain(|artifact| kept(artifact.kind));
    publish(options, &artifacts, report)
}

fn publish(options: &Options, artifacts: &[Artifact], report: &mut Report) -> Result<()> {
    // What killed links have left, here and where ptxas works.
    let temporary = std::env::temp_dir();
    let folders = [options.output.parent(), options.out_dir.as_deref(), Some(&*temporary)];
    folders.into_iter().flatten().for_each(scratch::sweep);
    let mut pending = Vec::new();
    let first = artifacts.iter().find(|artifact| artifact.kind == Emit::Ptx);
    if let Some(ptx) = first {
        pending.push(Pending::write(&options.output, &ptx.bytes)?);
    }
    match &options.out_dir {
        Some(dir) => {
            std::fs::create_dir_all(dir).map_err(|e| files::not_written(dir, &e))?;
            for artifact in artifacts {
                let path = dir.join(artifact.file_name(&options.name));
                pending.push(Pending::write(&path, &artifact.bytes)?);
                let arch = artifact.arch.map(|arch| arch.to_string());
                report.outputs.push(OutputFile { kind: artifact.kind, arch, path });
            }
            let text = serde_json::to_vec_pretty(report).expect("a report is plain data");
            pending.push(Pending::write(&dir.join(report::FILE_NAME), &text)?);
        }
        None => {
            // Without a folder, what was asked for stands beside the PTX.
            for artifact in artifacts {
                let is_first = first.is_some_and(|first| std::ptr::eq(first, artifact));
                let path = match (is_first, options.output.parent()) {
                    (true, _) | (_, None) => options.output.clone(),
                    (false, Some(dir)) => dir.join(artifact.file_name(&options.name)),
                };
                if !is_first {
                    pending.push(Pending::write(&path, &artifact.bytes)?);
                }
                let arch = artifact.arch.map(|arch| arch.to_string());
                report.outputs.push(OutputFile { kind: artifact.kind, arch, path });
            }
        }
    }
    // All or none also where a signal ends the process.
    let _all = scratch::uninterrupted();
    pending.into_iter().try_for_each(Pending::publish)
}
