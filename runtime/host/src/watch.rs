//! What is known of a context while kernels run on it: which were launched, what they left, and whether they are overdue.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use cudarc::driver::CudaContext;
use cudarc::driver::sys::CUcontext;
use ptx_abi::Descriptor;

/// Kernels that are remembered at most.
const KERNELS: usize = 8;

/// The watches of all contexts, while a device holds them.
static WATCHES: Mutex<Vec<Weak<Watch>>> = Mutex::new(Vec::new());

/// Of a context.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Compared only.
    context: usize,
    /// What was launched since somebody waited for all; nulls behind.
    launched: [AtomicPtr<Descriptor<'static>>; KERNELS],
    /// More than there is room for.
    more: AtomicBool,
    /// On other streams than the default one.
    elsewhere: AtomicBool,
    /// What runs was not done in time, so nothing may wait for it.
    overdue: AtomicBool,
    /// Nanoseconds that a wait may take; 0 for ever.
    deadline: AtomicU64,
}

impl Watch {
    /// That of a context.
    pub(crate) fn of(context: &CudaContext) -> Arc<Self> {
        let mut watches = WATCHES.lock().unwrap_or_else(PoisonError::into_inner);
        watches.retain(|watch| watch.strong_count() > 0);
        let key = context.cu_ctx() as usize;
        if let Some(known) = watches.iter().filter_map(Weak::upgrade).find(|watch| watch.context == key) {
            return known;
        }
        let watch = Arc::new(Self {
            context: key,
            launched: Default::default(),
            more: AtomicBool::new(false),
            elsewhere: AtomicBool::new(false),
            overdue: AtomicBool::new(false),
            deadline: AtomicU64::new(0),
        });
        watches.push(Arc::downgrade(&watch));
        watch
    }

    /// Notes that a kernel was launched, on the default stream or on another. It costs a launch two comparisons.
    #[inline]
    pub(crate) fn launched(&self, kernel: &'static Descriptor<'static>, elsewhere: bool) {
        if elsewhere && !self.elsewhere.load(Ordering::Relaxed) {
            self.elsewhere.store(true, Ordering::Relaxed);
        }
        let own = std::ptr::from_ref(kernel).cast_mut();
        for slot in &self.launched {
            let known = slot.load(Ordering::Relaxed);
            if known == own {
                return;
            }
            let null = std::ptr::null_mut();
            if known.is_null() {
                match slot.compare_exchange(null, own, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return,
                    Err(other) if other == own => return,
                    Err(_) => {}
                }
            }
        }
        self.more.store(true, Ordering::Relaxed);
    }

    /// The names of what was launched; none where there were more.
    pub(crate) fn kernels(&self) -> Vec<String> {
        if self.more.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let slots = self.launched.iter().map(|slot| slot.load(Ordering::Relaxed));
        // SAFETY: only `launched` writes, addresses of what lives for ever.
        slots.filter_map(|kernel| unsafe { kernel.as_ref() }).map(|kernel| kernel.name.to_owned()).collect()
    }

    /// Notes that the default stream is done.
    pub(crate) fn default_done(&self) {
        if !self.elsewhere.load(Ordering::Relaxed) {
            self.all_done();
        }
    }

    /// Notes that all is done.
    pub(crate) fn all_done(&self) {
        self.elsewhere.store(false, Ordering::Relaxed);
        self.launched.iter().for_each(|slot| slot.store(std::ptr::null_mut(), Ordering::Relaxed));
        self.more.store(false, Ordering::Relaxed);
    }

    pub(crate) fn deadline(&self) -> Option<Duration> {
        Some(Duration::from_nanos(self.deadline.load(Ordering::Relaxed))).filter(|limit| !limit.is_zero())
    }

    pub(crate) fn set_deadline(&self, limit: Option<Duration>) {
        let nanos = limit.map_or(0, |limit| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX).max(1));
        self.deadline.store(nanos, Ordering::Relaxed);
    }

    /// Notes whether what runs was not done in time.
    pub(crate) fn set_overdue(&self, is_overdue: bool) {
        self.overdue.store(is_overdue, Ordering::Relaxed);
    }
}

/// The names of the kernels that were launched in a context since somebody waited for all.
pub(crate) fn kernels_of(context: CUcontext) -> Vec<String> {
    find(context).map_or_else(Vec::new, |watch| watch.kernels())
}

/// Whether what runs in a context was not done in time, so that waiting for it could be for ever.
pub(crate) fn is_overdue(context: CUcontext) -> bool {
    find(context).is_some_and(|watch| watch.overdue.load(Ordering::Relaxed))
}

fn find(context: CUcontext) -> Option<Arc<Watch>> {
    let watches = WATCHES.lock().unwrap_or_else(PoisonError::into_inner);
    watches.iter().filter_map(Weak::upgrade).find(|watch| watch.context == context as usize)
}

#[cfg(test)]
mod tests {
    use ptx_abi::{Kind, LaunchBounds, Mangling};

    use super::*;

    const fn kernel(name: &'static str) -> Descriptor<'static> {
        Descriptor {
            kind: Kind::Kernel,
            mangling: Mangling::C,
            namespace: "",
            name,
            template: None,
            module_path: "",
            file: "",
            line: 0,
            column: 0,
            bounds: LaunchBounds { max_threads: 0, min_blocks: 0, max_registers: 0, dimensions: 0 },
            params: &[],
            result: None,
        }
    }

    #[test]
    fn kernels_are_remembered_once_until_all_are_done() {
        static ALL: [Descriptor<'static>; KERNELS + 1] = [
            kernel("a"),
            kernel("b"),
            kernel("c"),
            kernel("d"),
            kernel("e"),
            kernel("f"),
            kernel("g"),
            kernel("h"),
            kernel("i"),
        ];
        let watch = Watch {
            context: 1,
            launched: Default::default(),
            more: AtomicBool::new(false),
            elsewhere: AtomicBool::new(false),
            overdue: AtomicBool::new(false),
            deadline: AtomicU64::new(0),
        };
        for kernel in [&ALL[1], &ALL[0], &ALL[1], &ALL[1]] {
            watch.launched(kernel, false);
        }
        assert_eq!(watch.kernels(), ["b", "a"]);
        ALL[..KERNELS].iter().for_each(|kernel| watch.launched(kernel, false));
        assert_eq!(watch.kernels().len(), KERNELS);
        watch.launched(&ALL[KERNELS], false);
        assert!(watch.kernels().is_empty(), "a list that lacks some would name the wrong one");
        watch.all_done();
        watch.launched(&ALL[KERNELS], false);
        assert_eq!(watch.kernels(), ["i"]);
        watch.launched(&ALL[0], true);
        watch.default_done();
        assert_eq!(watch.kernels(), ["i", "a"], "another stream may still run it");
        watch.all_done();
        watch.launched(&ALL[0], false);
        watch.default_done();
        assert!(watch.kernels().is_empty());
    }

    #[test]
    fn no_deadline_is_for_ever_and_none_at_all_is_soon() {
        let watch = Watch {
            context: 1,
            launched: Default::default(),
            more: AtomicBool::new(false),
            elsewhere: AtomicBool::new(false),
            overdue: AtomicBool::new(false),
            deadline: AtomicU64::new(0),
        };
        assert_eq!(watch.deadline(), None);
        watch.set_deadline(Some(Duration::ZERO));
        assert_eq!(watch.deadline(), Some(Duration::from_nanos(1)));
        watch.set_deadline(None);
        assert_eq!(watch.deadline(), None);
    }
}
