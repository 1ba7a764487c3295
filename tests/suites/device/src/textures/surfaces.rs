//! Surfaces: every dimension, what is done outside, what launches and copies see of each other.

use ptx::texture::{
    Array, Array2d, BoundSurface, Cube, CubeLayered, Geometry, Mipmapped, OneD, OneDLayered, Sampling, ThreeD, TwoD,
    TwoDLayered,
};
use ptx::{Grid, Launch, Volume};
use ptx_texture_kernels::{self as kernels, Place, stamp};

use super::module::{load, run};
use crate::gpu::{Gpu, random, same};
use crate::record::{Test, test};

/// The launcher of a kernel that stamps a surface of these dimensions.
type Stamp<D> = for<'a> fn(&'a BoundSurface<'a, D, u32>, i32, i32, Volume<'a, u32>) -> Launch<'a>;

macro_rules! launchers {
    ($($name:ident $dimension:ident;)*) => {$(
        fn $name<'a>(
            surface: &'a BoundSurface<'a, $dimension, u32>,
            width: i32,
            height: i32,
            before: Volume<'a, u32>,
        ) -> Launch<'a> {
            kernels::$name(surface, width, height, before)
        }
    )*};
}
launchers! {
    stamp_1d OneD;
    stamp_2d TwoD;
    stamp_3d ThreeD;
    stamp_1d_layered OneDLayered;
    stamp_2d_layered TwoDLayered;
    stamp_cube Cube;
    stamp_cube_layered CubeLayered;
}

pub fn tests() -> Vec<Test> {
    vec![
        test("surfaces: every dimension", |gpu| {
            stamped::<OneD>(gpu, 37, [37, 1, 1], stamp_1d);
            stamped::<TwoD>(gpu, (21, 13), [21, 13, 1], stamp_2d);
            stamped::<ThreeD>(gpu, (9, 7, 5), [9, 7, 5], stamp_3d);
            stamped::<OneDLayered>(gpu, (21, 6), [21, 1, 6], stamp_1d_layered);
            stamped::<TwoDLayered>(gpu, (9, 7, 6), [9, 7, 6], stamp_2d_layered);
            stamped::<Cube>(gpu, 8, [8, 8, 6], stamp_cube);
            stamped::<CubeLayered>(gpu, (6, 2), [6, 6, 12], stamp_cube_layered);
        }),
        test("surfaces: outside of the image", outside),
        test("surfaces: what launches, copies and textures see", order),
        test("surfaces: levels", levels),
    ]
}

/// Reads what was there, and writes another number at every place.
fn stamped<D: Geometry>(gpu: &Gpu, size: D::Size, [width, height, depth]: [usize; 3], launch: Stamp<D>) {
    let module = load(gpu);
    let host: Vec<u32> = random(31).map(|bits| bits as u32).take(width * height * depth).collect();
    let mut array = Array::<D, u32>::upload(&gpu.device, size, &host).unwrap();
    let mut before = gpu.device.zeroed::<u32>(host.len()).unwrap();
    let surface = array.surface().unwrap();
    let volume = Volume::new(&mut before, width, height, depth);
    // Threads past the image read outside of it.
    let grid = Grid::new(1, (width as u32 + 1, height as u32, depth as u32));
    launch(&surface, width as i32, height as i32, volume)
        .launch(&module, grid)
        .unwrap_or_else(|error| panic!("{error}"));
    drop(surface);
    same(&gpu.device.download(&before).unwrap(), host);
    let places = (0..depth).flat_map(|z| (0..height).flat_map(move |y| (0..width).map(move |x| (x, y, z))));
    same(&array.download().unwrap(), places.map(|(x, y, z)| stamp(x as i32, y as i32, z as i32)));
}

fn outside(gpu: &Gpu) {
    let module = load(gpu);
    let (width, height) = (10_i32, 6_i32);
    let host: Vec<f32> = (1..=60).map(|i| i as f32).collect();
    let mut array = Array2d::upload(&gpu.device, (10, 6), &host).unwrap();
    let places: Vec<[i32; 2]> = (-3..height + 3).flat_map(|y| (-4..width + 4).map(move |x| [x, y])).collect();
    let far = [[1 << 26, 0], [-(1 << 26), 3], [4, i32::MAX], [4, i32::MIN]];
    let places: Vec<[i32; 2]> = places.into_iter().chain(far).collect();
    let device = gpu.device.upload(&places).unwrap();
    let mut out = gpu.device.upload(&vec![[0.0_f32; 2]; places.len()]).unwrap();
    let surface = array.surface().unwrap();
    run(gpu, &module, kernels::read_outside(&surface, &device, &mut out), places.len());
    let at = |x: i32, y: i32| host[(y * width + x) as usize];
    let expected = places.iter().map(|[x, y]| {
        let is_inside = (0..width).contains(x) && (0..height).contains(y);
        [at((*x).clamp(0, width - 1), (*y).clamp(0, height - 1)), if is_inside { at(*x, *y) } else { 0.0 }]
    });
    same(&gpu.device.download(&out).unwrap(), expected);
    // Every other place of a row, in and out.
    let written: Vec<[i32; 2]> = places.iter().copied().filter(|[x, _]| x % 2 == 0).collect();
    let device = gpu.device.upload(&written).unwrap();
    run(gpu, &module, kernels::write_outside(&surface, &device), written.len());
    drop(surface);
    same(&array.download().unwrap(), (0..60).map(|i| if i % 10 % 2 == 0 { -7.0 } else { host[i] }));
}

/// No wait in between: each sees what was put on a stream before it.
fn order(gpu: &Gpu) {
    let module = load(gpu);
    let device = &gpu.device;
    let (width, height) = (96, 64);
    let host: Vec<f32> = (0..width * height).map(|i| i as f32).collect();
    let mut array = Array2d::<f32>::zeroed(device, (width, height)).unwrap();
    let mut memory = device.upload(&host).unwrap();
    array.copy_from(&memory).unwrap();
    let other = device.new_stream().unwrap();
    let grid = Grid::cover_2d((width, height), (32, 8));
    for _ in 0..3 {
        let surface = array.surface().unwrap();
        let launch = kernels::increment(&surface, width as i32, height as i32);
        launch.launch_on(&module, &other, grid).unwrap();
        let launch = kernels::increment(&surface, width as i32, height as i32);
        let mut prepared = launch.prepare(&module, grid).unwrap();
        prepared.launch().unwrap();
        prepared.launch_on(&other).unwrap();
    }
    let places: Vec<Place> =
        (0..width * height).map(|i| [(i % width) as f32 + 0.5, (i / width) as f32 + 0.5, 0.0, 0.0]).collect();
    let places = device.upload(&places).unwrap();
    let mut out = device.zeroed::<f32>(host.len()).unwrap();
    {
        let texture = array.texture(&Sampling::nearest()).unwrap();
        kernels::fetch_2d(&texture, &places, &mut out).launch(&module, Grid::cover(host.len(), 128)).unwrap();
        // The texture goes while the kernel may run.
    }
    same(&device.download(&out).unwrap(), host.iter().map(|value| value + 9.0));
    array.copy_to(&mut memory).unwrap();
    array.write(&vec![0.0; host.len()]).unwrap();
    same(&device.download(&memory).unwrap(), host.iter().map(|value| value + 9.0));
    same(&array.download().unwrap(), vec![0.0; host.len()]);
}

/// A surface of one level changes that alone.
fn levels(gpu: &Gpu) {
    let module = load(gpu);
    let mut image = Mipmapped::<TwoD, f32>::zeroed(&gpu.device, (32, 16), 4).unwrap();
    assert_eq!((image.levels(), image.level_len(0), image.level_len(3)), (4, 512, 8));
    let surface = image.surface(2).unwrap();
    let grid = Grid::cover_2d((8, 4), (8, 4));
    kernels::increment(&surface, 8, 4).launch(&module, grid).unwrap();
    drop(surface);
    for level in 0..4 {
        let expected = if level == 2 { 1.0 } else { 0.0 };
        same(&image.download(level).unwrap(), vec![expected; image.level_len(level)]);
    }
}
