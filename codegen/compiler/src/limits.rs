//! How much a program of NVIDIA's may use before it is taken for one that never ends: on damaged files some do not.

use std::process::{Command, ExitStatus};

/// What a program may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Seconds of a processor: what else the machine does meanwhile does not count.
    pub seconds: u64,
    /// Bytes of each file that it writes.
    pub bytes: u64,
}

#[cfg(target_os = "linux")]
impl Limits {
    /// Has the system end a command that uses more.
    pub fn bind(self, command: &mut Command) {
        use std::os::unix::process::CommandExt;
        let limits = [(libc::RLIMIT_CPU, self.seconds), (libc::RLIMIT_FSIZE, self.bytes), (libc::RLIMIT_CORE, 0)];
        let apply = move || {
            for (resource, most) in limits {
                let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                // SAFETY: both calls are given a whole structure of this function's own.
                let is_set = unsafe {
                    libc::getrlimit(resource, &raw mut limit) == 0 && {
                        // What the user set stays if it is less, and nobody may raise the second.
                        limit.rlim_cur = limit.rlim_cur.min(most);
                        libc::setrlimit(resource, &raw const limit) == 0
                    }
                };
                if !is_set {
                    return Err(std::io::Error::last_os_error());
                }
            }
            Ok(())
        };
        // SAFETY: between fork and exec only these system calls run, which touch no memory but the function's own.
        unsafe { command.pre_exec(apply) };
    }

    /// Whether a program was ended because it used more.
    pub fn ended(status: ExitStatus) -> bool {
        use std::os::unix::process::ExitStatusExt;
        matches!(status.signal(), Some(libc::SIGXCPU | libc::SIGXFSZ))
    }
}

/// Other systems set no limits.
#[cfg(not(target_os = "linux"))]
impl Limits {
    /// Does nothing.
    pub fn bind(self, _: &mut Command) {}

    /// Never.
    pub fn ended(_: ExitStatus) -> bool {
        false
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn ended(script: &str) -> (bool, ExitStatus) {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(folder.path());
        Limits { seconds: 1, bytes: 1 << 20 }.bind(&mut command);
        let status = command.status().unwrap();
        (Limits::ended(status), status)
    }

    #[test]
    fn a_program_that_never_ends_is_ended() {
        for script in ["while :; do :; done", "exec cat /dev/zero > file"] {
            let (by_limit, status) = ended(script);
            assert!(by_limit && !status.success(), "{script}: {status}");
        }
        for script in ["exit 3", "kill -KILL $$", "true"] {
            assert!(!ended(script).0, "{script}");
        }
    }
}
