//! What is known of a context while kernels run on it: which were launched, what they left, and whether they are overdue.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use cudarc::driver::CudaContext;
use cudarc::driver::sys::{self, CUcontext};
use ptx_abi::Descriptor;

use crate::grid::Grid;
use crate::readers::Readers;

/// Kernels that are remembered at most.
const KERNELS: usize = 8;

/// The watches of all contexts, while a device holds them.
static WATCHES: Mutex<Vec<Weak<Watch>>> = Mutex::new(Vec::new());

/// Of a context.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Compared only.
    context: usize,
    /// What was launched since somebody waited for all; empty ones behind.
    launched: [Launched; KERNELS],
    /// Which streams read what.
    readers: Readers,
    /// More than there is room for.
    more: AtomicBool,
    /// On other streams than the default one.
    elsewhere: AtomicBool,
    /// What runs was not done in time, so nothing may wait for it.
    overdue: AtomicBool,
    /// Nanoseconds that a wait may take; 0 for ever.
    deadline: AtomicU64,
}

/// A kernel, null if there is none, and the grid of its last launch. Each is a line of the processor's cache of its own: a launch
/// writes one.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Launched {
    kernel: AtomicPtr<Descriptor<'static>>,
    shape: Shape,
}

/// A grid that any thread may write. Where two do at the same time, it may be a part of each: it is for a message.
#[derive(Debug, Default)]
struct Shape([AtomicU32; 7]);

impl Shape {
    #[inline]
    fn set(&self, grid: &Grid) {
        let Grid { blocks, threads, shared_bytes } = grid;
        let all = [blocks.x, blocks.y, blocks.z, threads.x, threads.y, threads.z, *shared_bytes];
        for (place, extent) in self.0.iter().zip(all) {
            place.store(extent, Ordering::Relaxed);
        }
    }

    fn get(&self) -> Grid {
        let [x, y, z, i, j, k, shared] = self.0.each_ref().map(|extent| extent.load(Ordering::Relaxed));
        Grid::new((x, y, z), (i, j, k)).shared_bytes(shared)
    }
}

impl Watch {
    fn new(context: usize) -> Self {
        Self {
            context,
            launched: Default::default(),
            readers: Readers::default(),
            more: AtomicBool::new(false),
            elsewhere: AtomicBool::new(false),
            overdue: AtomicBool::new(false),
            deadline: AtomicU64::new(0),
        }
    }

    /// That of a context.
    pub(crate) fn of(context: &CudaContext) -> Arc<Self> {
        let mut watches = WATCHES.lock().unwrap_or_else(PoisonError::into_inner);
        watches.retain(|watch| watch.strong_count() > 0);
        let key = context.cu_ctx() as usize;
        if let Some(known) = watches.iter().filter_map(Weak::upgrade).find(|watch| watch.context == key) {
            return known;
        }
        let watch = Arc::new(Self::new(key));
        watches.push(Arc::downgrade(&watch));
        watch
    }

    /// Notes that a kernel is launched, on the default stream or on another. It costs a launch two comparisons, and a few
    /// stores.
    #[inline]
    pub(crate) fn launched(&self, kernel: &'static Descriptor<'static>, grid: &Grid, elsewhere: bool) {
        if elsewhere && !self.elsewhere.load(Ordering::Relaxed) {
            self.elsewhere.store(true, Ordering::Relaxed);
        }
        let own = std::ptr::from_ref(kernel).cast_mut();
        for Launched { kernel: slot, shape } in &self.launched {
            let known = slot.load(Ordering::Relaxed);
            if known == own {
                return shape.set(grid);
            }
            let null = std::ptr::null_mut();
            if known.is_null() {
                match slot.compare_exchange(null, own, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return shape.set(grid),
                    Err(other) if other == own => return shape.set(grid),
                    Err(_) => {}
                }
            }
        }
        self.more.store(true, Ordering::Relaxed);
    }

    /// Notes a launch of kernels that nobody lists.
    pub(crate) fn launched_elsewhere(&self) {
        self.elsewhere.store(true, Ordering::Relaxed);
        self.more.store(true, Ordering::Relaxed);
    }

    /// The names of what was launched; none where there were more.
    pub(crate) fn kernels(&self) -> Vec<String> {
        self.known().map(|(kernel, _)| kernel.name.to_owned()).collect()
    }

    /// What was launched, each with the grid of its last launch; none where there were more.
    fn launches(&self) -> Vec<String> {
        self.known().map(|(kernel, grid)| format!("kernel `{}`, launched as {grid}", kernel.name)).collect()
    }

    fn known(&self) -> impl Iterator<Item = (&'static Descriptor<'static>, Grid)> {
        let count = if self.more.load(Ordering::Relaxed) { 0 } else { KERNELS };
        // SAFETY: only `launched` writes, addresses of what lives for ever.
        let kernel = |slot: &Launched| unsafe { slot.kernel.load(Ordering::Relaxed).as_ref() };
        self.launched.iter().take(count).filter_map(move |slot| Some((kernel(slot)?, slot.shape.get())))
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
        self.launched.iter().for_each(|slot| slot.kernel.store(std::ptr::null_mut(), Ordering::Relaxed));
        self.more.store(false, Ordering::Relaxed);
    }

    pub(crate) fn readers(&self) -> &Readers {
        &self.readers
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

/// What was launched in the current context since somebody waited for all, each with its grid. It works in a lost context, too.
pub(crate) fn launches_of_current() -> Vec<String> {
    let mut context: CUcontext = std::ptr::null_mut();
    // SAFETY: writes one handle.
    let asked = unsafe { sys::cuCtxGetCurrent(&mut context) };
    asked.result().ok().and_then(|()| find(context)).map_or_else(Vec::new, |watch| watch.launches())
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
            bounds: LaunchBounds::NONE,
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
        let watch = Watch::new(1);
        let grid = Grid::new(3, 32);
        for kernel in [&ALL[1], &ALL[0], &ALL[1], &ALL[1]] {
            watch.launched(kernel, &grid, false);
        }
        assert_eq!(watch.kernels(), ["b", "a"]);
        watch.launched(&ALL[0], &Grid::new((7, 2), 64).shared_bytes(16), false);
        assert_eq!(
            watch.launches(),
            [
                "kernel `b`, launched as 3x1x1 blocks of 32x1x1 threads",
                "kernel `a`, launched as 7x2x1 blocks of 64x1x1 threads with 16 bytes of dynamic shared memory"
            ]
        );
        ALL[..KERNELS].iter().for_each(|kernel| watch.launched(kernel, &grid, false));
        assert_eq!(watch.kernels().len(), KERNELS);
        watch.launched(&ALL[KERNELS], &grid, false);
        assert!(watch.kernels().is_empty(), "a list that lacks some would name the wrong one");
        watch.all_done();
        watch.launched(&ALL[KERNELS], &grid, false);
        assert_eq!(watch.kernels(), ["i"]);
        watch.launched(&ALL[0], &grid, true);
        watch.default_done();
        assert_eq!(watch.kernels(), ["i", "a"], "another stream may still run it");
        watch.all_done();
        watch.launched(&ALL[0], &grid, false);
        watch.default_done();
        assert!(watch.kernels().is_empty());
    }

    #[test]
    fn no_deadline_is_for_ever_and_none_at_all_is_soon() {
        let watch = Watch::new(1);
        assert_eq!(watch.deadline(), None);
        watch.set_deadline(Some(Duration::ZERO));
        assert_eq!(watch.deadline(), Some(Duration::from_nanos(1)));
        watch.set_deadline(None);
        assert_eq!(watch.deadline(), None);
    }
}
