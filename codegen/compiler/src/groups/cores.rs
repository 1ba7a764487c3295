//! Work on all cores, where nothing else goes on.

use std::panic::resume_unwind;
use std::thread;

/// What `work` makes of each, in their order.
pub fn of_each<'a, T: Sync, R: Send>(all: &'a [T], work: impl Fn(&'a T) -> R + Sync) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let work = &work;
        let shares = all.chunks(all.len().div_ceil(cores).max(1));
        let begun: Vec<_> =
            shares.map(|share| scope.spawn(move || share.iter().map(work).collect::<Vec<R>>())).collect();
        let made = begun.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        made.flatten().collect()
    })
}
