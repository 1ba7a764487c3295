//! Which outcomes the memory model of PTX allows, by trying every execution of a program.
//!
//! The axioms are those of the PTX ISA, "Memory Consistency Model", for operations that are all morally strong: all of one
//! width, in scopes that hold all threads. An execution is a choice of what each read reads from, of an order of the writes to
//! each location (coherence), and of an order of the `fence.sc`. Operations are first replaced by what they are in PTX
//! (PTX Writer's Guide to Interoperability, chapter 4).

use std::sync::atomic::Ordering;

use crate::row::{Op, Place, Row};

/// An operation of PTX.
#[derive(Clone, Copy, Debug)]
struct Event {
    thread: usize,
    place: Option<Place>,
    reads: bool,
    /// What it writes; an addition's value depends on what it reads.
    writes: Option<Value>,
    acquire: bool,
    release: bool,
    fence: bool,
    sc: bool,
    barrier: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Constant(u32),
    OneMore,
}

/// A relation between events, as a matrix.
#[derive(Clone)]
struct Relation(Vec<Vec<bool>>);

impl Relation {
    fn of(count: usize, holds: impl Fn(usize, usize) -> bool) -> Self {
        Self((0..count).map(|a| (0..count).map(|b| holds(a, b)).collect()).collect())
    }

    fn has(&self, a: usize, b: usize) -> bool {
        self.0[a][b]
    }

    fn count(&self) -> usize {
        self.0.len()
    }

    /// The transitive closure.
    fn closed(mut self) -> Self {
        let count = self.count();
        for middle in 0..count {
            for a in 0..count {
                if self.0[a][middle] {
                    for b in 0..count {
                        self.0[a][b] |= self.0[middle][b];
                    }
                }
            }
        }
        self
    }

    fn has_cycle(self) -> bool {
        let closed = self.closed();
        (0..closed.count()).any(|a| closed.has(a, a))
    }
}

/// Whether some execution ends in the row's outcome.
pub fn is_allowed(row: &Row) -> bool {
    let events: Vec<Event> = row.threads.iter().enumerate().flat_map(|(t, ops)| lowered(t, ops)).collect();
    let numbers = |is: &dyn Fn(&Event) -> bool| (0..events.len()).filter(|e| is(&events[*e])).collect::<Vec<_>>();
    let reads = numbers(&|event| event.reads);
    let fences = numbers(&|event| event.sc);
    let writes_to = |place| numbers(&|event| event.writes.is_some() && event.place == Some(place));
    let coherence: Vec<[Vec<usize>; 2]> = permutations(&writes_to(Place::x))
        .into_iter()
        .flat_map(|x| permutations(&writes_to(Place::y)).into_iter().map(move |y| [x.clone(), y]))
        .collect();
    let fence_orders = permutations(&fences);
    // What each read reads from: a write, or what was there at first.
    let mut sources = vec![Vec::new()];
    for read in &reads {
        let place = events[*read].place.expect("a read has a location");
        let choices =
            || std::iter::once(None).chain(writes_to(place).into_iter().filter(|write| write != read).map(Some));
        sources = sources
            .iter()
            .flat_map(|chosen: &Vec<Option<usize>>| choices().map(|next| [chosen.clone(), vec![next]].concat()))
            .collect();
    }
    sources.iter().any(|sources| {
        coherence.iter().any(|coherence| {
            let from = |read: usize| reads.iter().position(|r| *r == read).and_then(|at| sources[at]);
            ends_so(row, &events, &reads, &from, coherence)
                && fence_orders.iter().any(|fences| is_consistent(&events, &from, coherence, fences))
        })
    })
}

/// What a thread does, in PTX.
fn lowered(thread: usize, ops: &[Op]) -> Vec<Event> {
    let plain = Event {
        thread,
        place: None,
        reads: false,
        writes: None,
        acquire: false,
        release: false,
        fence: false,
        sc: false,
        barrier: false,
    };
    let fence = |order| Event { acquire: true, release: true, fence: true, sc: order == Ordering::SeqCst, ..plain };
    let acquires = |order| matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst);
    let releases = |order| matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst);
    let mut events = Vec::new();
    for op in ops {
        let (order, event) = match *op {
            Op::R(place, order) => {
                (order, Event { place: Some(place), reads: true, acquire: acquires(order), ..plain })
            }
            Op::W(place, value, order) => {
                let writes = Some(Value::Constant(value));
                (order, Event { place: Some(place), writes, release: releases(order), ..plain })
            }
            Op::Add(place, order) => {
                let (acquire, release) = (acquires(order), releases(order));
                (
                    order,
                    Event { place: Some(place), reads: true, writes: Some(Value::OneMore), acquire, release, ..plain },
                )
            }
            Op::F(order) => (Ordering::Relaxed, fence(order)),
            Op::Barrier => (Ordering::Relaxed, Event { barrier: true, ..plain }),
        };
        if order == Ordering::SeqCst {
            events.push(fence(order));
        }
        events.push(event);
    }
    events
}

/// Whether the values are those of the outcome.
fn ends_so(
    row: &Row,
    events: &[Event],
    reads: &[usize],
    from: &dyn Fn(usize) -> Option<usize>,
    coherence: &[Vec<usize>; 2],
) -> bool {
    // Additions that read from each other in a circle have no value.
    let written = |write: usize| value_of(events, from, write, events.len());
    let read = |read: usize| from(read).map_or(Some(0), written);
    let last = |place: Place| coherence[place as usize].last().map_or(Some(0), |write| written(*write));
    reads.iter().zip(row.reads).all(|(at, wanted)| read(*at) == Some(*wanted))
        && row.last.iter().all(|(place, wanted)| last(*place) == Some(*wanted))
}

fn value_of(events: &[Event], from: &dyn Fn(usize) -> Option<usize>, write: usize, steps: usize) -> Option<u32> {
    match events[write].writes? {
        Value::Constant(value) => Some(value),
        Value::OneMore if steps == 0 => None,
        Value::OneMore => match from(write) {
            None => Some(1),
            Some(source) => Some(value_of(events, from, source, steps - 1)? + 1),
        },
    }
}

/// Whether the axioms allow the execution.
fn is_consistent(
    events: &[Event],
    from: &dyn Fn(usize) -> Option<usize>,
    coherence: &[Vec<usize>; 2],
    fences: &[usize],
) -> bool {
    let count = events.len();
    let at = |order: &[usize], event: usize| order.iter().position(|e| *e == event);
    let is_before = |order: &[usize], a: usize, b: usize| at(order, a).zip(at(order, b)).is_some_and(|(a, b)| a < b);
    let same_place = |a: usize, b: usize| events[a].place.is_some() && events[a].place == events[b].place;
    let program = |a: usize, b: usize| events[a].thread == events[b].thread && a < b;
    let reads_from = |write: usize, read: usize| events[read].reads && from(read) == Some(write);
    let coherent = |a: usize, b: usize| coherence.iter().any(|order| is_before(order, a, b));
    // A read comes before the writes that follow what it has read.
    let from_read = |read: usize, write: usize| {
        let later = || from(read).is_none_or(|source| coherent(source, write));
        read != write && events[read].reads && events[write].writes.is_some() && same_place(read, write) && later()
    };

    // SC per location: communication and program order of one location make no circle.
    let communication = |a, b| reads_from(a, b) || coherent(a, b) || from_read(a, b);
    if Relation::of(count, |a, b| communication(a, b) || program(a, b) && same_place(a, b)).has_cycle() {
        return false;
    }
    // Atomicity: nothing comes between what an addition reads and what it writes.
    let is_atomic = |add: usize| (0..count).all(|write| !(from_read(add, write) && coherent(write, add)));
    if !(0..count).filter(|e| events[*e].reads && events[*e].writes.is_some()).all(is_atomic) {
        return false;
    }
    // Observation order: through additions, which hand on what they have read.
    let observed = Relation::of(count, reads_from).closed();
    // Causality: program order, synchronisation, and the order of the `fence.sc`.
    let synchronizes = |a, b| {
        (0..count).any(|write| {
            is_release(events, a, write)
                && (0..count).any(|read| observed.has(write, read) && is_acquire(events, read, b))
        })
    };
    let meet = |a: usize, b: usize| events[a].barrier && events[b].barrier && a != b;
    let base = Relation::of(count, |a, b| program(a, b) || synchronizes(a, b) || is_before(fences, a, b) || meet(a, b))
        .closed();
    let causality = Relation::of(count, |a, b| {
        base.has(a, b) || (0..count).any(|middle| observed.has(a, middle) && base.has(middle, b))
    });
    let agrees = |a: usize, b: usize| {
        // Coherence, Fence-SC, and causality: no write is read before it is there, or after it was replaced.
        let coherence = !coherent(b, a);
        let fences = !is_before(fences, b, a);
        coherence && fences && !reads_from(b, a) && !from_read(b, a)
    };
    (0..count).all(|a| (0..count).all(|b| !causality.has(a, b) || agrees(a, b)))
}

/// Whether `first` begins a release pattern that ends with the write.
fn is_release(events: &[Event], first: usize, write: usize) -> bool {
    let (a, b) = (events[first], events[write]);
    let is_of = a.fence || a.place == b.place && a.writes.is_some();
    b.writes.is_some() && a.release && is_of && a.thread == b.thread && first <= write
}

/// Whether an acquire pattern that begins with the read ends with `last`.
fn is_acquire(events: &[Event], read: usize, last: usize) -> bool {
    let (a, b) = (events[read], events[last]);
    let is_of = b.fence || a.place == b.place && b.reads;
    a.reads && b.acquire && is_of && a.thread == b.thread && read <= last
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let rest = |at: usize| [&items[..at], &items[at + 1..]].concat();
    let from = |at: usize| permutations(&rest(at)).into_iter().map(move |tail| [vec![items[at]], tail].concat());
    (0..items.len()).flat_map(from).collect()
}
