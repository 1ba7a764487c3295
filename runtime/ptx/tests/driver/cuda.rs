//! A driver without a device, for tests: it counts calls and what is alive, keeps device memory in the host's, and fails when
//! it is told to. Kernels do nothing. The tests compile it to `libcuda.so`, and cudarc finds that.

#![expect(clippy::missing_safety_doc, reason = "the driver's documentation says what its functions ask for")]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

type Handle = *mut c_void;

/// What is alive, by kind.
const KINDS: [&str; 9] = ["context", "module", "stream", "event", "memory", "host", "graph", "exec", "pool"];
static ALIVE: [AtomicI64; KINDS.len()] = [const { AtomicI64::new(0) }; KINDS.len()];

const CONTEXT: usize = 0;
const MODULE: usize = 1;
const STREAM: usize = 2;
const EVENT: usize = 3;
const MEMORY: usize = 4;
const HOST: usize = 5;
const GRAPH: usize = 6;
const EXEC: usize = 7;
const POOL: usize = 8;

const INVALID_VALUE: i32 = 1;
const INVALID_CONTEXT: i32 = 201;
const INVALID_HANDLE: i32 = 400;
const NOT_FOUND: i32 = 500;
const NOT_READY: i32 = 600;

/// A failure was planned, or the context is lost.
static ARMED: AtomicBool = AtomicBool::new(false);
static PLANNED: Mutex<Vec<(String, i32)>> = Mutex::new(Vec::new());
static LOST: AtomicU32 = AtomicU32::new(0);
/// Milliseconds that a call of the host's takes to begin on a stream.
static LATENCY: AtomicU64 = AtomicU64::new(0);
/// The version of CUDA that the driver says.
static VERSION: AtomicU32 = AtomicU32::new(13000);
static DEVICES: AtomicU32 = AtomicU32::new(2);
static STACK: AtomicUsize = AtomicUsize::new(1024);
static ALL_STREAMS: Mutex<Option<HashMap<usize, Arc<Line>>>> = Mutex::new(None);
static SIZES: Mutex<Option<HashMap<u64, Layout>>> = Mutex::new(None);
static GRAPHS: Mutex<Option<HashMap<usize, Vec<Node>>>> = Mutex::new(None);
static HANDLES: AtomicUsize = AtomicUsize::new(0x1000);
/// Nodes that the last node of a graph was told to come after.
static EDGES: AtomicU64 = AtomicU64::new(0);
/// See [`fake_attributes`].
static ATTRIBUTES: AtomicU64 = AtomicU64::new(0);
/// Launches of kernels, those of graphs among them.
static LAUNCHES: AtomicU64 = AtomicU64::new(0);
/// How often an event was recorded: from each time to the next, a device without work takes 1.5 ms.
static RECORDED: AtomicU64 = AtomicU64::new(0);

/// Where and when an event was recorded last.
type Recorded = (Arc<Line>, u64, u64);

thread_local! { static CURRENT: Cell<usize> = const { Cell::new(0) }; }

/// What a graph does, in order.
#[derive(Clone)]
enum Node {
    Kernel,
    Nothing,
    /// So many bytes, from one address to another.
    Copy(u64, u64, usize),
    /// What a condition of this value decides, of this kind (`CUgraphConditionalNodeType`), among these graphs.
    Branch(u32, u32, Vec<usize>),
}

/// Does what a graph does: kernels set no condition, so a loop runs once.
fn run(graphs: &HashMap<usize, Vec<Node>>, graph: usize) -> bool {
    let Some(nodes) = graphs.get(&graph) else { return false };
    nodes.iter().all(|node| {
        let body = match node {
            Node::Nothing => return true,
            Node::Kernel => {
                LAUNCHES.store(LAUNCHES.load(Relaxed) + 1, Relaxed);
                return true;
            }
            Node::Copy(from, to, bytes) => {
                // SAFETY: the caller's promise, when it added the node.
                unsafe { std::ptr::copy_nonoverlapping(*from as *const u8, *to as *mut u8, *bytes) };
                return true;
            }
            Node::Branch(value, 2, bodies) => bodies.get(*value as usize),
            Node::Branch(0, _, bodies) => bodies.get(1),
            Node::Branch(_, _, bodies) => bodies.first(),
        };
        body.is_none_or(|body| run(graphs, *body))
    })
}

/// The first value of a condition, in its handle.
fn condition(handle: u64) -> u32 {
    (handle >> 32) as u32
}

/// `CUgraphNodeParams` of a conditional node.
#[repr(C)]
struct Conditional {
    node: u32,
    reserved: [u32; 3],
    handle: u64,
    kind: u32,
    size: u32,
    bodies: *const Handle,
    context: Handle,
}

/// The work of a stream: so much was put there, and so much is done.
struct Line {
    put: AtomicU64,
    done: Mutex<u64>,
    changed: Condvar,
    capturing: AtomicUsize,
}

impl Line {
    fn new() -> Arc<Self> {
        let (put, done, changed) = (AtomicU64::new(0), Mutex::new(0), Condvar::new());
        Arc::new(Self { put, done, changed, capturing: AtomicUsize::new(0) })
    }

    fn wait(&self, until: u64) {
        let done = self.done.lock().unwrap();
        drop(self.changed.wait_while(done, |done| *done < until).unwrap());
    }
}

fn line(stream: Handle) -> Arc<Line> {
    let mut all = ALL_STREAMS.lock().unwrap();
    all.get_or_insert_default().entry(stream as usize).or_insert_with(Line::new).clone()
}

fn wait_for_all() {
    let all: Vec<_> = ALL_STREAMS.lock().unwrap().get_or_insert_default().values().cloned().collect();
    all.iter().for_each(|line| line.wait(line.put.load(Relaxed)));
}

fn handle() -> usize {
    HANDLES.fetch_add(16, Relaxed)
}

fn born(kind: usize) {
    ALIVE[kind].fetch_add(1, Relaxed);
}

fn gone(kind: usize) {
    ALIVE[kind].fetch_sub(1, Relaxed);
}

fn allocate(bytes: usize, kind: usize) -> u64 {
    let layout = Layout::from_size_align(bytes.max(1), 4096).unwrap();
    // SAFETY: not of size zero.
    let address = unsafe { alloc_zeroed(layout) } as u64;
    SIZES.lock().unwrap().get_or_insert_default().insert(address, layout);
    born(kind);
    address
}

fn free(address: u64, kind: usize) -> i32 {
    let Some(layout) = SIZES.lock().unwrap().get_or_insert_default().remove(&address) else { return INVALID_VALUE };
    // SAFETY: of `allocate`.
    unsafe { dealloc(address as *mut u8, layout) };
    gone(kind);
    0
}

#[cold]
fn planned(name: &str) -> i32 {
    let lost = LOST.load(Relaxed);
    // These work in a lost context, too.
    if lost != 0 && !matches!(name, "cuCtxGetCurrent" | "cuCtxSetCurrent" | "cuGetErrorName" | "cuGetErrorString") {
        return lost as i32;
    }
    let mut planned = PLANNED.lock().unwrap();
    let Some(at) = planned.iter().position(|(of, _)| of == name) else { return 0 };
    let (_, code) = planned.remove(at);
    if planned.is_empty() && lost == 0 {
        ARMED.store(false, Relaxed);
    }
    code
}

fn name_of(text: *const c_char) -> &'static str {
    // SAFETY: the tests pass literals.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap()
}

/// The next call of the function of this name returns the code.
#[unsafe(no_mangle)]
extern "C" fn fake_fail(name: *const c_char, code: i32) {
    PLANNED.lock().unwrap().push((name_of(name).to_owned(), code));
    ARMED.store(true, Relaxed);
}

/// From now on all calls return the code; 0 ends that, and forgets what was planned.
#[unsafe(no_mangle)]
extern "C" fn fake_lose(code: u32) {
    PLANNED.lock().unwrap().clear();
    LOST.store(code, Relaxed);
    ARMED.store(code != 0, Relaxed);
}

/// How many are alive of a kind.
#[unsafe(no_mangle)]
extern "C" fn fake_alive(kind: *const c_char) -> i64 {
    ALIVE[KINDS.iter().position(|known| *known == name_of(kind)).unwrap()].load(Relaxed)
}

/// How often the function of this name was called.
#[unsafe(no_mangle)]
extern "C" fn fake_calls(name: *const c_char) -> u64 {
    calls_of(name_of(name))
}

/// How often any function was called.
#[unsafe(no_mangle)]
extern "C" fn fake_all_calls() -> u64 {
    all_calls()
}

/// Launches of kernels, those of graphs among them.
#[unsafe(no_mangle)]
extern "C" fn fake_launches() -> u64 {
    LAUNCHES.load(Relaxed)
}

/// How many nodes the last node of a graph was told to come after.
#[unsafe(no_mangle)]
extern "C" fn fake_edges() -> u64 {
    EDGES.load(Relaxed)
}

unsafe fn note_edges(dependencies: *const Handle, count: usize) {
    // SAFETY: the caller has so many.
    let all = unsafe { (0..count).map(|at| *dependencies.add(at)) };
    assert!(all.clone().all(|node| !node.is_null()));
    EDGES.store(count as u64, Relaxed);
}

/// Adds a node.
unsafe fn put(node: *mut Handle, graph: Handle, what: Node) -> i32 {
    // SAFETY: the caller has a place for it.
    unsafe { *node = handle() as Handle };
    match GRAPHS.lock().unwrap().get_or_insert_default().get_mut(&(graph as usize)) {
        Some(nodes) => {
            nodes.push(what);
            0
        }
        None => INVALID_VALUE,
    }
}

/// Which attributes nodes of kernels were given, a bit each, since this was asked last.
#[unsafe(no_mangle)]
extern "C" fn fake_attributes() -> u64 {
    ATTRIBUTES.swap(0, Relaxed)
}

/// The driver is of this version of CUDA, as `cuDriverGetVersion` says it.
#[unsafe(no_mangle)]
extern "C" fn fake_version(version: u32) {
    VERSION.store(version, Relaxed);
}

/// A call of the host's waits so many milliseconds on its stream.
#[unsafe(no_mangle)]
extern "C" fn fake_latency(milliseconds: u64) {
    LATENCY.store(milliseconds, Relaxed);
}

/// One side of `CUDA_MEMCPY3D`.
#[repr(C)]
struct Side3d {
    x: usize,
    y: usize,
    z: usize,
    level: usize,
    /// `CU_MEMORYTYPE_HOST` is 1, `CU_MEMORYTYPE_DEVICE` 2.
    kind: c_uint,
    host: u64,
    device: u64,
    array: Handle,
    reserved: Handle,
    pitch: usize,
    rows: usize,
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
struct Copy3d {
    from: Side3d,
    to: Side3d,
    width: usize,
    height: usize,
    depth: usize,
}

macro_rules! driver {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) $body:block)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($arg: $ty),*) -> i32 {
                // Not exact if two threads call at once, but it costs nothing.
                counts::$name.store(counts::$name.load(Relaxed) + 1, Relaxed);
                if ARMED.load(Relaxed) {
                    let code = planned(stringify!($name));
                    if code != 0 {
                        return code;
                    }
                }
                // SAFETY: the caller keeps to the driver's documentation.
                unsafe { $body }
            }
        )*

        #[expect(non_upper_case_globals, reason = "the driver's names")]
        mod counts {
            use std::sync::atomic::AtomicU64;
            $(pub static $name: AtomicU64 = AtomicU64::new(0);)*
        }

        fn calls_of(name: &str) -> u64 {
            match name {
                $(stringify!($name) => counts::$name.load(Relaxed),)*
                other => panic!("there is no {other}"),
            }
        }

        fn all_calls() -> u64 {
            0 $(+ counts::$name.load(Relaxed))*
        }
    };
}

driver! {
    fn cuInit(_flags: c_uint) { 0 }
    fn cuDriverGetVersion(version: *mut c_int) { *version = VERSION.load(Relaxed) as c_int; 0 }
    fn cuDeviceGetCount(count: *mut c_int) { *count = DEVICES.load(Relaxed) as c_int; 0 }
    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) { *device = ordinal; 0 }
    fn cuDeviceGetName(name: *mut c_char, len: c_int, _device: c_int) {
        let text = c"Fake GPU".to_bytes_with_nul();
        assert!(len as usize >= text.len());
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, text.len());
        0
    }
    fn cuDeviceGetPCIBusId(place: *mut c_char, len: c_int, _device: c_int) {
        let text = c"0000:01:00.0".to_bytes_with_nul();
        assert!(len as usize >= text.len());
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), place, text.len());
        0
    }
    fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: c_int) { *bytes = 1 << 34; 0 }
    fn cuDeviceGetAttribute(value: *mut c_int, which: c_int, _device: c_int) {
        *value = match which {
            1 | 2 | 3 => 1024,             // MAX_THREADS_PER_BLOCK, MAX_BLOCK_DIM_X and Y
            4 => 64,                       // MAX_BLOCK_DIM_Z
            5 => i32::MAX,                 // MAX_GRID_DIM_X
            6 | 7 => 65_535,               // MAX_GRID_DIM_Y and Z
            8 => 48 << 10,                 // MAX_SHARED_MEMORY_PER_BLOCK
            16 => 132,                     // MULTIPROCESSOR_COUNT
            39 => 2048,                    // MAX_THREADS_PER_MULTIPROCESSOR
            75 => 9,                       // COMPUTE_CAPABILITY_MAJOR
            76 => 0,                       // COMPUTE_CAPABILITY_MINOR
            97 => 227 << 10,               // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
            89 | 115 => 1,                 // CONCURRENT_MANAGED_ACCESS, MEMORY_POOLS_SUPPORTED
            _ => 1,
        };
        0
    }
    fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: c_int) {
        born(CONTEXT);
        *context = (0x10_0000 + device as usize * 16) as Handle;
        0
    }
    fn cuDevicePrimaryCtxRelease_v2(_device: c_int) { gone(CONTEXT); 0 }
    fn cuCtxCreate_v4(context: *mut Handle, _params: Handle, _flags: c_uint, _device: c_int) {
        born(CONTEXT);
        *context = handle() as Handle;
        CURRENT.set(*context as usize);
        0
    }
    fn cuCtxDestroy_v2(_context: Handle) { gone(CONTEXT); 0 }
    fn cuCtxGetCurrent(context: *mut Handle) { *context = CURRENT.get() as Handle; 0 }
    fn cuCtxSetCurrent(context: Handle) { CURRENT.set(context as usize); 0 }
    fn cuCtxSynchronize() { wait_for_all(); 0 }
    fn cuCtxGetLimit(value: *mut usize, which: c_int) {
        *value = if which == 0 { STACK.load(Relaxed) } else { 8 << 20 };
        0
    }
    fn cuCtxSetLimit(which: c_int, value: usize) {
        if which == 0 { STACK.store(value, Relaxed); }
        0
    }
    fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) { *least = 0; *greatest = -5; 0 }

    fn cuStreamCreate(stream: *mut Handle, _flags: c_uint) { born(STREAM); *stream = handle() as Handle; 0 }
    fn cuStreamCreateWithPriority(stream: *mut Handle, _flags: c_uint, _priority: c_int) {
        born(STREAM);
        *stream = handle() as Handle;
        0
    }
    fn cuStreamDestroy_v2(_stream: Handle) { gone(STREAM); 0 }
    fn cuStreamSynchronize(stream: Handle) { let line = line(stream); line.wait(line.put.load(Relaxed)); 0 }
    fn cuStreamQuery(stream: Handle) {
        let line = line(stream);
        if *line.done.lock().unwrap() < line.put.load(Relaxed) { NOT_READY } else { 0 }
    }
    fn cuStreamWaitEvent(_stream: Handle, _event: Handle, _flags: c_uint) { 0 }
    fn cuStreamIsCapturing(stream: Handle, status: *mut c_int) {
        *status = c_int::from(line(stream).capturing.load(Relaxed) != 0);
        0
    }
    fn cuStreamBeginCapture_v2(stream: Handle, _mode: c_int) {
        let graph = handle();
        born(GRAPH);
        GRAPHS.lock().unwrap().get_or_insert_default().insert(graph, Vec::new());
        line(stream).capturing.store(graph, Relaxed);
        0
    }
    fn cuStreamEndCapture(stream: Handle, graph: *mut Handle) {
        *graph = line(stream).capturing.swap(0, Relaxed) as Handle;
        0
    }
    fn cuLaunchHostFunc(stream: Handle, call: unsafe extern "C" fn(*mut c_void), argument: *mut c_void) {
        let line = line(stream);
        let number = line.put.fetch_add(1, Relaxed) + 1;
        let argument = argument as usize;
        std::thread::spawn(move || {
            line.wait(number - 1);
            std::thread::sleep(Duration::from_millis(LATENCY.load(Relaxed)));
            // SAFETY: the caller's promise.
            unsafe { call(argument as *mut c_void) };
            *line.done.lock().unwrap() = number;
            line.changed.notify_all();
        });
        0
    }

    fn cuStreamAddCallback(
        stream: Handle, call: unsafe extern "C" fn(Handle, c_int, *mut c_void), argument: *mut c_void, _flags: c_uint
    ) {
        let line = line(stream);
        let number = line.put.fetch_add(1, Relaxed) + 1;
        let (stream, argument) = (stream as usize, argument as usize);
        std::thread::spawn(move || {
            line.wait(number - 1);
            std::thread::sleep(Duration::from_millis(LATENCY.load(Relaxed)));
            // SAFETY: the caller's promise. A lost context is told to it.
            unsafe { call(stream as Handle, LOST.load(Relaxed) as c_int, argument as *mut c_void) };
            *line.done.lock().unwrap() = number;
            line.changed.notify_all();
        });
        0
    }

    fn cuEventCreate(event: *mut Handle, _flags: c_uint) {
        born(EVENT);
        *event = Box::into_raw(Box::new(Mutex::new(None::<Recorded>))).cast();
        0
    }
    fn cuEventDestroy_v2(event: Handle) {
        gone(EVENT);
        drop(Box::from_raw(event.cast::<Mutex<Option<Recorded>>>()));
        0
    }
    fn cuEventRecord(event: Handle, stream: Handle) {
        let line = line(stream);
        let until = line.put.load(Relaxed);
        let number = RECORDED.fetch_add(1, Relaxed);
        *(*event.cast::<Mutex<Option<Recorded>>>()).lock().unwrap() = Some((line, until, number));
        0
    }
    fn cuEventQuery(event: Handle) {
        match &*(*event.cast::<Mutex<Option<Recorded>>>()).lock().unwrap() {
            Some((line, until, _)) if *line.done.lock().unwrap() < *until => NOT_READY,
            _ => 0,
        }
    }
    fn cuEventSynchronize(event: Handle) {
        let recorded = (*event.cast::<Mutex<Option<Recorded>>>()).lock().unwrap().clone();
        if let Some((line, until, _)) = recorded { line.wait(until); }
        0
    }
    fn cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) {
        let number = |event: Handle| (*event.cast::<Mutex<Option<Recorded>>>()).lock().unwrap().as_ref().map(|event| event.2);
        let (Some(start), Some(end)) = (number(start), number(end)) else { return NOT_READY };
        *milliseconds = 1.5 * (end as f32 - start as f32);
        0
    }

    fn cuMemAllocAsync(address: *mut u64, bytes: usize, _stream: Handle) { *address = allocate(bytes, MEMORY); 0 }
    fn cuMemAlloc_v2(address: *mut u64, bytes: usize) { *address = allocate(bytes, MEMORY); 0 }
    fn cuMemAllocFromPoolAsync(address: *mut u64, bytes: usize, _pool: Handle, _stream: Handle) {
        *address = allocate(bytes, MEMORY);
        0
    }
    fn cuMemAllocManaged(address: *mut u64, bytes: usize, _flags: c_uint) { *address = allocate(bytes, MEMORY); 0 }
    fn cuMemFreeAsync(address: u64, _stream: Handle) { free(address, MEMORY) }
    fn cuMemFree_v2(address: u64) { free(address, MEMORY) }
    fn cuMemHostAlloc(address: *mut Handle, bytes: usize, _flags: c_uint) {
        *address = allocate(bytes, HOST) as Handle;
        0
    }
    fn cuMemFreeHost(address: Handle) { free(address as u64, HOST) }
    fn cuMemHostRegister_v2(_address: Handle, _bytes: usize, _flags: c_uint) { 0 }
    fn cuMemHostUnregister(_address: Handle) { 0 }
    fn cuMemHostGetDevicePointer_v2(address: *mut u64, host: Handle, _flags: c_uint) { *address = host as u64; 0 }
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) { *free = 1 << 33; *total = 1 << 34; 0 }
    fn cuMemsetD8Async(address: u64, value: u8, bytes: usize, _stream: Handle) {
        std::ptr::write_bytes(address as *mut u8, value, bytes);
        0
    }
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const u8, bytes: usize, _stream: Handle) {
        std::ptr::copy_nonoverlapping(from, to as *mut u8, bytes);
        0
    }
    fn cuMemcpyDtoHAsync_v2(to: *mut u8, from: u64, bytes: usize, _stream: Handle) {
        std::ptr::copy_nonoverlapping(from as *const u8, to, bytes);
        0
    }
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, _stream: Handle) {
        std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes);
        0
    }
    fn cuMemcpyPeerAsync(to: u64, _to: Handle, from: u64, _from: Handle, bytes: usize, _stream: Handle) {
        std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes);
        0
    }
    fn cuMemcpy3DAsync_v2(copy: *const Copy3d, _stream: Handle) {
        let copy = &*copy;
        let start = |side: &Side3d| if side.kind == 1 { side.host } else { side.device };
        let (from, to) = (&copy.from, &copy.to);
        if from.pitch < copy.width || to.pitch < copy.width || from.rows < copy.height || to.rows < copy.height {
            return INVALID_VALUE;
        }
        for layer in 0..copy.depth {
            for row in 0..copy.height {
                let at = |side: &Side3d| start(side) as usize + (layer * side.rows + row) * side.pitch;
                std::ptr::copy_nonoverlapping(at(from) as *const u8, at(to) as *mut u8, copy.width);
            }
        }
        0
    }
    fn cuMemcpyHtoD_v2(to: u64, from: *const u8, bytes: usize) {
        std::ptr::copy_nonoverlapping(from, to as *mut u8, bytes);
        0
    }
    fn cuMemcpyDtoH_v2(to: *mut u8, from: u64, bytes: usize) {
        std::ptr::copy_nonoverlapping(from as *const u8, to, bytes);
        0
    }

    fn cuModuleLoadDataEx(module: *mut Handle, _image: *const c_void, _count: c_uint, _options: Handle, _values: Handle) {
        born(MODULE);
        // A module's handle, and those of its functions, are where its context stands.
        *module = Box::into_raw(Box::new(CURRENT.get())).cast();
        0
    }
    fn cuModuleUnload(module: Handle) { gone(MODULE); drop(Box::from_raw(module.cast::<usize>())); 0 }
    fn cuModuleGetFunction(function: *mut Handle, module: Handle, _name: *const c_char) { *function = module; 0 }
    fn cuModuleGetGlobal_v2(_address: *mut u64, _bytes: *mut usize, _module: Handle, _name: *const c_char) { NOT_FOUND }
    fn cuFuncGetAttribute(value: *mut c_int, which: c_int, _function: Handle) {
        *value = match which {
            0 => 1024,    // MAX_THREADS_PER_BLOCK
            4 => 24,      // NUM_REGS
            8 => 48 << 10, // MAX_DYNAMIC_SHARED_SIZE_BYTES
            _ => 0,
        };
        0
    }
    fn cuFuncSetAttribute(_function: Handle, _which: c_int, _value: c_int) { 0 }
    fn cuOccupancyMaxPotentialBlockSize(
        blocks: *mut c_int, threads: *mut c_int, _function: Handle, _size: Handle, _shared: usize, _limit: c_int
    ) { *blocks = 264; *threads = 768; 0 }
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int, _function: Handle, threads: c_int, _shared: usize
    ) { *blocks = 2048 / threads.max(1); 0 }
    fn cuOccupancyMaxActiveClusters(clusters: *mut c_int, _function: Handle, _config: *const c_void) { *clusters = 66; 0 }
    fn cuOccupancyMaxPotentialClusterSize(blocks: *mut c_int, _function: Handle, _config: *const c_void) {
        *blocks = 8;
        0
    }
    fn cuOccupancyAvailableDynamicSMemPerBlock(
        bytes: *mut usize, _function: Handle, _blocks: c_int, _threads: c_int
    ) { *bytes = 100 << 10; 0 }
    fn cuLaunchKernel(
        function: Handle, _x: c_uint, _y: c_uint, _z: c_uint, _i: c_uint, _j: c_uint, _k: c_uint, _shared: c_uint,
        stream: Handle, params: *mut *mut c_void, _extra: Handle
    ) {
        if CURRENT.get() == 0 || function.is_null() || params.is_null() {
            return INVALID_CONTEXT;
        }
        if CURRENT.get() != *function.cast::<usize>() {
            return INVALID_HANDLE;
        }
        LAUNCHES.store(LAUNCHES.load(Relaxed) + 1, Relaxed);
        if !stream.is_null() {
            let graph = line(stream).capturing.load(Relaxed);
            if graph != 0 {
                LAUNCHES.store(LAUNCHES.load(Relaxed) - 1, Relaxed);
                GRAPHS.lock().unwrap().get_or_insert_default().get_mut(&graph).unwrap().push(Node::Kernel);
            }
        }
        0
    }
    fn cuLaunchKernelEx(_config: *const c_void, _function: Handle, _params: *mut *mut c_void, _extra: Handle) {
        LAUNCHES.store(LAUNCHES.load(Relaxed) + 1, Relaxed);
        0
    }

    fn cuGraphCreate(graph: *mut Handle, _flags: c_uint) {
        born(GRAPH);
        *graph = handle() as Handle;
        GRAPHS.lock().unwrap().get_or_insert_default().insert(*graph as usize, Vec::new());
        0
    }
    fn cuGraphDestroy(graph: Handle) {
        gone(GRAPH);
        GRAPHS.lock().unwrap().get_or_insert_default().remove(&(graph as usize));
        0
    }
    fn cuGraphAddKernelNode_v2(
        node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, _params: *const c_void
    ) {
        note_edges(dependencies, count);
        put(node, graph, Node::Kernel)
    }
    fn cuGraphAddMemsetNode(
        node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, _params: *const c_void,
        _context: Handle
    ) {
        note_edges(dependencies, count);
        put(node, graph, Node::Nothing)
    }
    fn cuGraphAddEmptyNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize) {
        note_edges(dependencies, count);
        put(node, graph, Node::Nothing)
    }
    fn cuGraphAddMemcpyNode(
        node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, copy: *const Copy3d, _context: Handle
    ) {
        note_edges(dependencies, count);
        let Copy3d { from, to, width, height: 1, depth: 1 } = &*copy else { return INVALID_VALUE };
        // What the other kind of memory needs is 0, as the documentation has it.
        let start = |side: &Side3d| match side {
            Side3d { kind: 1, host, device: 0, .. } => *host,
            Side3d { kind: 2, host: 0, device, .. } => *device,
            _ => 0,
        };
        if start(from) == 0 || start(to) == 0 || from.pitch < *width || to.pitch < *width {
            return INVALID_VALUE;
        }
        put(node, graph, Node::Copy(start(from), start(to), *width))
    }
    fn cuGraphConditionalHandleCreate(
        condition: *mut u64, _graph: Handle, context: Handle, first: c_uint, flags: c_uint
    ) {
        if context.is_null() || flags != 1 {
            return INVALID_VALUE;
        }
        *condition = u64::from(first) << 32 | handle() as u64 & 0xffff_ffff;
        0
    }
    fn cuGraphAddNode_v2(
        node: *mut Handle, graph: Handle, dependencies: *const Handle, _edges: Handle, count: usize, params: Handle
    ) {
        note_edges(dependencies, count);
        let params = &mut *params.cast::<Conditional>();
        let most = match params.kind { 0 => 2, 1 => 1, 2 => c_uint::MAX, _ => 0 };
        if params.node != 13 || params.reserved != [0; 3] || params.size == 0 || params.size > most || params.context.is_null() {
            return INVALID_VALUE;
        }
        let bodies: Vec<usize> = (0..params.size).map(|_| handle()).collect();
        params.bodies = bodies.iter().map(|body| *body as Handle).collect::<Vec<_>>().leak().as_ptr();
        let mut graphs = GRAPHS.lock().unwrap();
        graphs.get_or_insert_default().extend(bodies.iter().map(|body| (*body, Vec::new())));
        drop(graphs);
        put(node, graph, Node::Branch(condition(params.handle), params.kind, bodies))
    }
    fn cuGraphAddDependencies_v2(
        _graph: Handle, from: *const Handle, to: *const Handle, _edges: Handle, count: usize
    ) {
        note_edges(to, count);
        note_edges(from, count);
        0
    }
    fn cuGraphKernelNodeSetAttribute(_node: Handle, which: c_uint, _value: *const c_void) {
        ATTRIBUTES.fetch_or(1 << which, Relaxed);
        0
    }
    fn cuGraphDestroyNode(_node: Handle) { 0 }
    fn cuGraphInstantiateWithFlags(exec: *mut Handle, graph: Handle, _flags: u64) {
        born(EXEC);
        *exec = handle() as Handle;
        let mut graphs = GRAPHS.lock().unwrap();
        let graphs = graphs.get_or_insert_default();
        let nodes = graphs.get(&(graph as usize)).cloned().unwrap_or_default();
        graphs.insert(*exec as usize, nodes);
        0
    }
    fn cuGraphExecDestroy(exec: Handle) {
        gone(EXEC);
        GRAPHS.lock().unwrap().get_or_insert_default().remove(&(exec as usize));
        0
    }
    fn cuGraphExecKernelNodeSetParams_v2(_exec: Handle, _node: Handle, _params: *const c_void) { 0 }
    fn cuGraphUpload(_exec: Handle, _stream: Handle) { 0 }
    fn cuGraphLaunch(exec: Handle, _stream: Handle) {
        if run(GRAPHS.lock().unwrap().get_or_insert_default(), exec as usize) { 0 } else { INVALID_VALUE }
    }

    fn cuMemPoolCreate(pool: *mut Handle, _properties: *const c_void) { born(POOL); *pool = handle() as Handle; 0 }
    fn cuMemPoolDestroy(_pool: Handle) { gone(POOL); 0 }
    fn cuMemPoolSetAccess(_pool: Handle, _accesses: *const c_void, _count: usize) { 0 }
    fn cuMemPoolTrimTo(_pool: Handle, _bytes: usize) { 0 }
    fn cuMemPoolGetAttribute(_pool: Handle, _which: c_int, value: *mut u64) { *value = 4096; 0 }
    fn cuMemPoolSetAttribute(_pool: Handle, _which: c_int, _value: *mut c_void) { 0 }
    fn cuDeviceGetDefaultMemPool(pool: *mut Handle, _device: c_int) { *pool = 0x7000 as Handle; 0 }
    fn cuDeviceGetMemPool(pool: *mut Handle, _device: c_int) { *pool = 0x7000 as Handle; 0 }
    fn cuDeviceCanAccessPeer(can: *mut c_int, device: c_int, other: c_int) { *can = c_int::from(device != other); 0 }
    fn cuCtxEnablePeerAccess(_context: Handle, _flags: c_uint) { 0 }
}

/// The tests know errors by their names in cudarc, so the driver says none.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorName(_code: i32, _text: *mut *const c_char) -> i32 {
    INVALID_VALUE
}

/// As [`cuGetErrorName`].
#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorString(_code: i32, _text: *mut *const c_char) -> i32 {
    INVALID_VALUE
}
