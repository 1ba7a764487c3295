//! The table of litmus tests.
//!
//! The names are those of the literature (J. Alglave, L. Maranget, M. Tautschnig, *Herding cats*, table II): message
//! passing, store and load buffering, independent reads of independent writes, write-to-read causality, S, R, 2+2W, and the
//! five forms of coherence.

/// Hands the table to a macro: `name in words: Verdict, [operations of a thread] … => [what is read] {what is there last}`.
#[macro_export]
macro_rules! rows {
    ($callback:ident) => {
        $callback! {
            mp_relaxed "MP": Allowed, [(W x 1 Relaxed) (W y 1 Relaxed)] [(R y Relaxed) (R x Relaxed)] => [1 0] {};
            mp_release "MP, release alone": Allowed,
                [(W x 1 Relaxed) (W y 1 Release)] [(R y Relaxed) (R x Relaxed)] => [1 0] {};
            mp_acquire "MP, acquire alone": Allowed,
                [(W x 1 Relaxed) (W y 1 Relaxed)] [(R y Acquire) (R x Relaxed)] => [1 0] {};
            mp_rel_acq "MP, release and acquire": Forbidden,
                [(W x 1 Relaxed) (W y 1 Release)] [(R y Acquire) (R x Relaxed)] => [1 0] {};
            mp_fences "MP, fences": Forbidden,
                [(W x 1 Relaxed) (F Release) (W y 1 Relaxed)] [(R y Relaxed) (F Acquire) (R x Relaxed)] => [1 0] {};
            mp_fence_acquire "MP, fence and acquire": Forbidden,
                [(W x 1 Relaxed) (F AcqRel) (W y 1 Relaxed)] [(R y Acquire) (R x Relaxed)] => [1 0] {};
            mp_release_fence "MP, release and fence": Forbidden,
                [(W x 1 Relaxed) (W y 1 Release)] [(R y Relaxed) (F AcqRel) (R x Relaxed)] => [1 0] {};
            mp_one_fence "MP, a fence for the writes alone": Allowed,
                [(W x 1 Relaxed) (F Release) (W y 1 Relaxed)] [(R y Relaxed) (R x Relaxed)] => [1 0] {};
            mp_seq_cst "MP, seq_cst": Forbidden,
                [(W x 1 SeqCst) (W y 1 SeqCst)] [(R y SeqCst) (R x SeqCst)] => [1 0] {};
            mp_add "MP, by additions": Forbidden,
                [(W x 1 Relaxed) (Add y Release)] [(Add y Acquire) (R x Relaxed)] => [0 1 0] {};
            mp_chain "MP, an addition between": Forbidden,
                [(W x 1 Relaxed) (W y 1 Release)] [(Add y Relaxed)] [(R y Acquire) (R x Relaxed)] => [1 2 0] {};

            sb_relaxed "SB": Allowed, [(W x 1 Relaxed) (R y Relaxed)] [(W y 1 Relaxed) (R x Relaxed)] => [0 0] {};
            sb_rel_acq "SB, release and acquire": Allowed,
                [(W x 1 Release) (R y Acquire)] [(W y 1 Release) (R x Acquire)] => [0 0] {};
            sb_acq_rel_fences "SB, fences": Allowed,
                [(W x 1 Relaxed) (F AcqRel) (R y Relaxed)] [(W y 1 Relaxed) (F AcqRel) (R x Relaxed)] => [0 0] {};
            sb_one_fence "SB, one seq_cst fence": Allowed,
                [(W x 1 Relaxed) (F SeqCst) (R y Relaxed)] [(W y 1 Relaxed) (R x Relaxed)] => [0 0] {};
            sb_fences "SB, seq_cst fences": Forbidden,
                [(W x 1 Relaxed) (F SeqCst) (R y Relaxed)] [(W y 1 Relaxed) (F SeqCst) (R x Relaxed)] => [0 0] {};
            sb_seq_cst "SB, seq_cst": Forbidden,
                [(W x 1 SeqCst) (R y SeqCst)] [(W y 1 SeqCst) (R x SeqCst)] => [0 0] {};
            sb_add "SB, by seq_cst additions": Forbidden,
                [(Add x SeqCst) (R y SeqCst)] [(Add y SeqCst) (R x SeqCst)] => [0 0 0 0] {};
            sb_barrier "SB, barrier": Forbidden,
                [(W x 1 Relaxed) (Barrier) (R y Relaxed)] [(W y 1 Relaxed) (Barrier) (R x Relaxed)] => [0 0] {};

            lb_relaxed "LB": Allowed, [(R x Relaxed) (W y 1 Relaxed)] [(R y Relaxed) (W x 1 Relaxed)] => [1 1] {};
            lb_acquire "LB, acquire alone": Allowed,
                [(R x Acquire) (W y 1 Relaxed)] [(R y Acquire) (W x 1 Relaxed)] => [1 1] {};
            lb_rel_acq "LB, release and acquire": Forbidden,
                [(R x Acquire) (W y 1 Release)] [(R y Acquire) (W x 1 Release)] => [1 1] {};
            lb_fences "LB, fences": Forbidden,
                [(R x Relaxed) (F AcqRel) (W y 1 Relaxed)] [(R y Relaxed) (F AcqRel) (W x 1 Relaxed)] => [1 1] {};
            lb_one_side "LB, release in one thread, acquire in the other": Forbidden,
                [(R x Relaxed) (W y 1 Release)] [(R y Acquire) (W x 1 Relaxed)] => [1 1] {};

            iriw_relaxed "IRIW": Allowed,
                [(W x 1 Relaxed)] [(W y 1 Relaxed)] [(R x Relaxed) (R y Relaxed)] [(R y Relaxed) (R x Relaxed)]
                => [1 0 1 0] {};
            iriw_acquire "IRIW, release and acquire": Allowed,
                [(W x 1 Release)] [(W y 1 Release)] [(R x Acquire) (R y Acquire)] [(R y Acquire) (R x Acquire)]
                => [1 0 1 0] {};
            iriw_fences "IRIW, seq_cst fences": Forbidden,
                [(W x 1 Relaxed)] [(W y 1 Relaxed)] [(R x Relaxed) (F SeqCst) (R y Relaxed)] [(R y Relaxed) (F SeqCst) (R x Relaxed)]
                => [1 0 1 0] {};
            iriw_seq_cst "IRIW, seq_cst": Forbidden,
                [(W x 1 SeqCst)] [(W y 1 SeqCst)] [(R x SeqCst) (R y SeqCst)] [(R y SeqCst) (R x SeqCst)]
                => [1 0 1 0] {};

            wrc_relaxed "WRC": Allowed,
                [(W x 1 Relaxed)] [(R x Relaxed) (W y 1 Relaxed)] [(R y Relaxed) (R x Relaxed)] => [1 1 0] {};
            wrc_rel_acq "WRC, release and acquire": Forbidden,
                [(W x 1 Relaxed)] [(R x Relaxed) (W y 1 Release)] [(R y Acquire) (R x Relaxed)] => [1 1 0] {};
            wrc_fences "WRC, fences": Forbidden,
                [(W x 1 Relaxed)] [(R x Relaxed) (F AcqRel) (W y 1 Relaxed)] [(R y Relaxed) (F AcqRel) (R x Relaxed)]
                => [1 1 0] {};

            s_relaxed "S": Allowed, [(W x 2 Relaxed) (W y 1 Relaxed)] [(R y Relaxed) (W x 1 Relaxed)] => [1] {x 2};
            s_rel_acq "S, release and acquire": Forbidden,
                [(W x 2 Relaxed) (W y 1 Release)] [(R y Acquire) (W x 1 Relaxed)] => [1] {x 2};
            s_fences "S, fences": Forbidden,
                [(W x 2 Relaxed) (F AcqRel) (W y 1 Relaxed)] [(R y Relaxed) (F AcqRel) (W x 1 Relaxed)] => [1] {x 2};

            r_relaxed "R": Allowed, [(W x 1 Relaxed) (W y 1 Relaxed)] [(W y 2 Relaxed) (R x Relaxed)] => [0] {y 2};
            r_rel_acq "R, release and acquire": Allowed,
                [(W x 1 Release) (W y 1 Release)] [(W y 2 Release) (R x Acquire)] => [0] {y 2};
            r_fences "R, seq_cst fences": Forbidden,
                [(W x 1 Relaxed) (F SeqCst) (W y 1 Relaxed)] [(W y 2 Relaxed) (F SeqCst) (R x Relaxed)] => [0] {y 2};
            r_seq_cst "R, seq_cst": Forbidden,
                [(W x 1 SeqCst) (W y 1 SeqCst)] [(W y 2 SeqCst) (R x SeqCst)] => [0] {y 2};

            two_two_w_relaxed "2+2W": Allowed,
                [(W x 1 Relaxed) (W y 2 Relaxed)] [(W y 1 Relaxed) (W x 2 Relaxed)] => [] {x 1 y 1};
            two_two_w_release "2+2W, release": Allowed,
                [(W x 1 Release) (W y 2 Release)] [(W y 1 Release) (W x 2 Release)] => [] {x 1 y 1};
            two_two_w_fences "2+2W, seq_cst fences": Forbidden,
                [(W x 1 Relaxed) (F SeqCst) (W y 2 Relaxed)] [(W y 1 Relaxed) (F SeqCst) (W x 2 Relaxed)]
                => [] {x 1 y 1};
            two_two_w_seq_cst "2+2W, seq_cst": Forbidden,
                [(W x 1 SeqCst) (W y 2 SeqCst)] [(W y 1 SeqCst) (W x 2 SeqCst)] => [] {x 1 y 1};

            co_rr "CoRR": Forbidden, [(W x 1 Relaxed)] [(R x Relaxed) (R x Relaxed)] => [1 0] {};
            co_rr_two "CoRR, two readers": Forbidden,
                [(W x 1 Relaxed)] [(W x 2 Relaxed)] [(R x Relaxed) (R x Relaxed)] [(R x Relaxed) (R x Relaxed)]
                => [1 2 2 1] {};
            co_ww "CoWW": Forbidden, [(W x 1 Relaxed) (W x 2 Relaxed)] => [] {x 1};
            co_wr "CoWR": Forbidden, [(W x 1 Relaxed) (R x Relaxed)] [(W x 2 Relaxed)] => [2] {x 1};
            co_rw_alone "CoRW, one thread": Forbidden, [(R x Relaxed) (W x 1 Relaxed)] => [1] {};
            co_rw "CoRW": Forbidden, [(R x Relaxed) (W x 1 Relaxed)] [(W x 2 Relaxed)] => [2] {x 2};
            additions "two additions": Forbidden, [(Add x Relaxed)] [(Add x Relaxed)] => [0 0] {};
            additions_last "two additions, one lost": Forbidden, [(Add x Relaxed)] [(Add x Relaxed)] => [] {x 1};
        }
    };
}
