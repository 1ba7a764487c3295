//! Atomics on the host: the same results as `core`'s.

use super::*;

#[test]
fn operations_are_those_of_core() {
    let a = Atomic::<i32, Device>::new(5);
    assert_eq!(a.fetch_add(3, Ordering::Relaxed), 5);
    assert_eq!(a.fetch_sub(10, Ordering::AcqRel), 8);
    assert_eq!(a.fetch_min(-7, Ordering::Acquire), -2);
    assert_eq!(a.fetch_max(1, Ordering::Release), -7);
    assert_eq!(a.fetch_nand(1, Ordering::SeqCst), 1);
    assert_eq!(a.swap(9, Ordering::SeqCst), -2);
    assert_eq!(a.compare_exchange(9, 4, Ordering::SeqCst, Ordering::Relaxed), Ok(9));
    assert_eq!(a.compare_exchange(9, 5, Ordering::Relaxed, Ordering::SeqCst), Err(4));
    assert_eq!(a.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |old| Some(old * 2)), Ok(4));
    assert_eq!(a.load(Ordering::Acquire), 8);
    assert_eq!(a.into_inner(), 8);
}

#[test]
fn counters_wrap_as_cuda_has_it() {
    let a = Atomic::<u8, Block>::new(2);
    let inc = |most| a.fetch_inc_wrap(most, Ordering::Relaxed);
    assert_eq!([inc(3), inc(3), inc(3)], [2, 3, 0]);
    let dec = |most| a.fetch_dec_wrap(most, Ordering::Relaxed);
    assert_eq!([dec(3), dec(3), dec(1), dec(1)], [1, 0, 3, 1]);
}

#[test]
fn floats_bools_and_pointers() {
    let f = Atomic::<f64>::new(1.5);
    assert_eq!(f.fetch_add(2.0, Ordering::Relaxed), 1.5);
    assert_eq!(f.fetch_sub(0.5, Ordering::Relaxed), 3.5);
    assert_eq!(f.load(Ordering::Relaxed), 3.0);
    let b = Atomic::<bool>::new(true);
    assert!(b.fetch_and(false, Ordering::AcqRel));
    assert!(!b.fetch_or(true, Ordering::AcqRel));
    assert!(b.load(Ordering::SeqCst));
    let mut target = 7;
    let p = Atomic::<*mut i32>::new(core::ptr::null_mut());
    assert!(p.swap(&raw mut target, Ordering::AcqRel).is_null());
    assert_eq!(p.load(Ordering::Acquire), &raw mut target);
}

#[test]
fn borrowed_values_are_atomics() {
    let mut values = [1_u64, 2, 3];
    let atomics = Atomic::<u64, System>::from_mut_slice(&mut values);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..1000).for_each(|i| _ = atomics[i % 3].fetch_add(1, Ordering::Relaxed)));
        }
    });
    assert_eq!(values, [1 + 4 * 334, 2 + 4 * 333, 3 + 4 * 333]);
}

#[test]
fn orders_that_cannot_be_are_refused() {
    let a = Atomic::<u32, Block>::new(0);
    let refused = |body: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).is_err();
    for order in [Ordering::Release, Ordering::AcqRel] {
        assert!(refused(&|| _ = a.load(order)));
        assert!(refused(&|| _ = a.compare_exchange(0, 0, Ordering::SeqCst, order)));
    }
    for order in [Ordering::Acquire, Ordering::AcqRel] {
        assert!(refused(&|| a.store(1, order)));
    }
    assert!(refused(&|| fence::<Block>(Ordering::Relaxed)));
    assert!(!refused(&|| fence::<Block>(Ordering::SeqCst)));
}

#[test]
fn two_orders_become_one_that_has_both() {
    use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    let rows = [
        (Relaxed, Relaxed, Relaxed),
        (Relaxed, Acquire, Acquire),
        (Release, Relaxed, Release),
        (Release, Acquire, AcqRel),
        (Acquire, Acquire, Acquire),
        (AcqRel, Relaxed, AcqRel),
        (Relaxed, SeqCst, SeqCst),
        (SeqCst, Acquire, SeqCst),
    ];
    for (success, failure, both) in rows {
        assert_eq!(merged(success, failure), both);
    }
}
