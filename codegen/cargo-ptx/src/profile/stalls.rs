//! What warps wait for: ncu's names, and what they mean (Nsight Compute, Kernel Profiling Guide, "Warp Stall Reasons").

/// The reason that a column is of: `stall_long_sb`, in other versions `smsp__pcsamp_warps_issue_stalled_long_scoreboard`. None for
/// warps that wait for nothing, and for the columns that count again the samples in which no warp was issued.
pub fn reason(column: &str) -> Option<&str> {
    let reason = ["stall_", "smsp__pcsamp_warps_issue_stalled_"].iter().find_map(|begin| column.strip_prefix(begin))?;
    let is_again = reason.to_ascii_lowercase().replace([' ', '-'], "_").contains("not_issued");
    (!is_again && !["selected", "not_selected"].contains(&reason)).then_some(reason)
}

/// In words; ncu's name where there are none.
pub fn words(reason: &str) -> &str {
    match reason {
        "barrier" => "a barrier",
        "branch_resolve" | "branch_resolving" => "a branch",
        "dispatch" | "dispatch_stall" => "the dispatcher",
        "drain" => "stores before the end",
        "gmma" => "tensor cores",
        "imc" | "imc_miss" => "constants that are not cached",
        "lg" | "lg_throttle" => "room among global accesses",
        "long_sb" | "long_scoreboard" => "global or local memory",
        "math" | "math_pipe_throttle" => "a busy arithmetic unit",
        "membar" => "a fence",
        "mio" | "mio_throttle" => "room among shared accesses",
        "no_inst" | "no_instruction" => "the next instruction",
        "short_sb" | "short_scoreboard" => "shared memory or special functions",
        "sleep" | "sleeping" => "the end of a sleep",
        "tex" | "tex_throttle" => "room among texture accesses",
        "wait" => "the instruction before",
        "warpgroup_arrive" => "its warp group",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_both_kinds_have_a_reason() {
        for (column, expected) in [
            ("stall_long_sb", Some("global or local memory")),
            ("smsp__pcsamp_warps_issue_stalled_long_scoreboard", Some("global or local memory")),
            ("stall_new_one", Some("new_one")),
            ("stall_long_sb (Not Issued)", None),
            ("stall_long_sb_not_issued", None),
            ("stall_selected", None),
            ("stall_not_selected", None),
            ("# Samples", None),
        ] {
            assert_eq!(reason(column).map(words), expected, "{column}");
        }
    }
}
