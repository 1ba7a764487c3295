//! One value that a thread hands to another, which waits for it: a channel of `std` takes rustc far longer to compile.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

pub(crate) struct Handover<T> {
    slot: Mutex<Option<T>>,
    arrived: Condvar,
}

impl<T> Handover<T> {
    pub(crate) const fn new() -> Self {
        Self { slot: Mutex::new(None), arrived: Condvar::new() }
    }

    /// In the place of one that nobody has taken.
    pub(crate) fn put(&self, value: T) {
        *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        self.arrived.notify_one();
    }

    /// Waits for it.
    pub(crate) fn take(&self) -> T {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match slot.take() {
                Some(value) => return value,
                None => slot = self.arrived.wait(slot).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Waits so long at most; with no time at all, looks whether it is there.
    pub(crate) fn take_within(&self, limit: Duration) -> Option<T> {
        let slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.arrived.wait_timeout_while(slot, limit, |slot| slot.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.take()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn each_value_is_taken_once_and_a_wait_for_none_ends() {
        static THERE: Handover<u32> = Handover::new();
        static BACK: Handover<u32> = Handover::new();
        assert_eq!(BACK.take_within(Duration::ZERO), None);
        assert_eq!(BACK.take_within(Duration::from_millis(5)), None);
        let doubles = thread::spawn(|| (0..100).for_each(|_| BACK.put(2 * THERE.take())));
        for value in 0..100 {
            THERE.put(value);
            assert_eq!(BACK.take_within(Duration::from_secs(60)), Some(2 * value));
        }
        doubles.join().expect("the other thread panicked");
        assert_eq!(BACK.take_within(Duration::ZERO), None);
    }
}
