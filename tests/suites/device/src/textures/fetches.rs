//! Filters, address modes, layers, cubes, levels, gradients.

use ptx::texture::{
    Address, Array, Array1d, Array1dLayered, Array2d, Array2dLayered, Array3d, ArrayCube, ArrayCubeLayered,
    ArrayGather2d, BoundTexture, Cube, CubeLayered, Filter, Geometry, Mipmapped, OneD, OneDLayered, Sampling, ThreeD,
    TwoD, TwoDLayered, pitch, pitched,
};
use ptx::{CudaSlice, Launch};
use ptx_texture_kernels::{self as kernels, Place};

use super::model::{Image, Model, cube};
use super::module::{load, run};
use crate::gpu::{Gpu, random, same};
use crate::record::{Test, test};

/// The launcher of a kernel that fetches from textures of these dimensions.
type Fetch<D> = for<'a> fn(&'a BoundTexture<'a, D, f32>, &'a CudaSlice<Place>, &'a mut CudaSlice<f32>) -> Launch<'a>;

pub fn tests() -> Vec<Test> {
    let mut tests = vec![
        test("textures: 1-D, filters and address modes", |gpu| plain::<OneD>(gpu, launch_1d, 1, |[w, ..]| w)),
        test("textures: 2-D, filters and address modes", |gpu| plain::<TwoD>(gpu, launch_2d, 2, |[w, h, _]| (w, h))),
        test("textures: 3-D, filters and address modes", |gpu| {
            plain::<ThreeD>(gpu, launch_3d, 3, |[w, h, d]| (w, h, d));
        }),
        test("textures: layers of rows and planes", layers),
        test("textures: cubes", cubes),
        test("textures: pitched memory", pitched_memory),
        test("textures: gather", gathers),
    ];
    tests.extend(levels());
    tests
}

macro_rules! launchers {
    ($($name:ident $dimension:ident $kernel:ident;)*) => {$(
        fn $name<'a>(
            texture: &'a BoundTexture<'a, $dimension, f32>,
            places: &'a CudaSlice<Place>,
            out: &'a mut CudaSlice<f32>,
        ) -> Launch<'a> {
            kernels::$kernel(texture, places, out)
        }
    )*};
}
launchers! {
    launch_1d OneD fetch_1d;
    launch_2d TwoD fetch_2d;
    launch_3d ThreeD fetch_3d;
    launch_1d_layered OneDLayered fetch_1d_layered;
    launch_2d_layered TwoDLayered fetch_2d_layered;
    launch_cube Cube fetch_cube;
    launch_cube_layered CubeLayered fetch_cube_layered;
    lod_1d OneD lod_1d;
    lod_2d TwoD lod_2d;
    lod_3d ThreeD lod_3d;
    lod_1d_layered OneDLayered lod_1d_layered;
    lod_2d_layered TwoDLayered lod_2d_layered;
    lod_cube Cube lod_cube;
    lod_cube_layered CubeLayered lod_cube_layered;
    grad_1d OneD grad_1d;
    grad_2d TwoD grad_2d;
    grad_3d ThreeD grad_3d;
    grad_1d_layered OneDLayered grad_1d_layered;
    grad_2d_layered TwoDLayered grad_2d_layered;
    grad_cube Cube grad_cube;
    grad_cube_layered CubeLayered grad_cube_layered;
}

/// What the kernel fetches at these places.
#[track_caller]
fn fetched<D>(gpu: &Gpu, fetch: Fetch<D>, texture: &BoundTexture<'_, D, f32>, places: &[Place]) -> Vec<f32> {
    let module = load(gpu);
    let (device, mut out) = (gpu.device.upload(places).unwrap(), gpu.device.zeroed(places.len()).unwrap());
    run(gpu, &module, fetch(texture, &device, &mut out), places.len());
    gpu.device.download(&out).unwrap()
}

/// Each differs from its model by no more than that.
#[track_caller]
fn close(device: &[f32], host: impl IntoIterator<Item = f32>, most: f32, what: &dyn Fn(usize) -> String) {
    for (i, (device, host)) in device.iter().zip(host).enumerate() {
        assert!((device - host).abs() <= most, "{}: {device} on the device, {host} on the host", what(i));
    }
}

/// Whole numbers from 0 to 255: products with weights of 8 bits are exact.
fn texels(seed: u64, len: usize) -> Vec<f32> {
    random(seed).map(|bits| (bits % 256) as f32).take(len).collect()
}

/// Every filter, address mode and kind of coordinates.
fn plain<D: Geometry>(gpu: &Gpu, fetch: Fetch<D>, dimensions: usize, size: fn([usize; 3]) -> D::Size) {
    for normalized in [false, true] {
        // Normalised coordinates are exact for powers of two.
        let all = if normalized { [16, 8, 4] } else { [13, 7, 5] };
        let extents: [usize; 3] = std::array::from_fn(|k| if k < dimensions { all[k] } else { 1 });
        let image = Image { size: extents, texels: texels(5, extents.iter().product()) };
        let array = Array::<D, f32>::upload(&gpu.device, size(extents), &image.texels).unwrap();
        let modes = [Address::Clamp, Address::Border, Address::Wrap, Address::Mirror];
        for address in if normalized { &modes[..] } else { &modes[..2] } {
            for is_linear in [false, true] {
                let sampling = if is_linear { Sampling::linear() } else { Sampling::nearest() };
                let sampling = sampling.address(*address).border([77.0, 0.0, 0.0, 0.0]);
                let sampling = if normalized { sampling.normalized() } else { sampling };
                let texture = array.texture(&sampling).unwrap();
                let model = Model { is_linear, address: *address, normalized, border: 77.0, dimensions };
                // Fractions of texels whose products of weights have 8 bits, off the edges where the nearest would
                // change; then anywhere.
                let parts = if dimensions == 3 { 4 } else { 8 };
                let mut numbers = random(9);
                let mut place = |exact: bool| -> Place {
                    std::array::from_fn(|k| {
                        let texels = extents.get(k).copied().unwrap_or(1) as f32;
                        let bits = numbers.next().unwrap_or(0);
                        let x = if exact {
                            let step = bits % (3 * parts * texels as u64);
                            step as f32 / parts as f32 + if is_linear { 0.0 } else { 0.0625 } - texels
                        } else {
                            (bits >> 40) as f32 / (1 << 24) as f32 * 3.0 * texels - texels
                        };
                        if normalized { x / texels } else { x }
                    })
                };
                let exact: Vec<Place> = (0..1000).map(|_| place(true)).collect();
                let anywhere: Vec<Place> = (0..1000).map(|_| place(false)).collect();
                let host = |place: &Place| image.fetch([place[0], place[1], place[2]], model);
                let what = |places: &[Place], i: usize| format!("{address:?} {model:?} at {:?}", places[i]);
                let device = fetched(gpu, fetch, &texture, &exact);
                let most = if is_linear { 0.25 } else { 0.0 };
                close(&device, exact.iter().map(host), most, &|i| what(&exact, i));
                if is_linear {
                    let device = fetched(gpu, fetch, &texture, &anywhere);
                    // A weight is rounded or cut to 8 bits, and so may be a product of weights.
                    let most = 384.0 * dimensions as f32 / 256.0;
                    close(&device, anywhere.iter().map(host), most, &|i| what(&anywhere, i));
                }
            }
        }
    }
}

fn layers(gpu: &Gpu) {
    let (width, height, count) = (9, 6, 5);
    let rows = Array1dLayered::upload(&gpu.device, (width, count), &texels(3, width * count)).unwrap();
    let planes =
        Array2dLayered::upload(&gpu.device, (width, height, count), &texels(4, width * height * count)).unwrap();
    // A layer that is not there is the last.
    let places: Vec<Place> = (0..500).map(|i| [(i % 80) as f32 / 8.0, (i / 80) as f32, 0.0, (i % 7) as f32]).collect();
    for is_linear in [false, true] {
        let sampling = if is_linear { Sampling::linear() } else { Sampling::nearest() };
        let model =
            |dimensions| Model { is_linear, address: Address::Clamp, normalized: false, border: 0.0, dimensions };
        let layer = |place: &Place| (place[3] as usize).min(count - 1);
        let most = if is_linear { 0.25 } else { 0.0 };
        let host = rows.download().unwrap();
        let device = fetched(gpu, launch_1d_layered, &rows.texture(&sampling).unwrap(), &places);
        let row = |place: &Place| {
            let texels = host[layer(place) * width..][..width].to_vec();
            Image { size: [width, 1, 1], texels }.fetch([place[0], 0.0, 0.0], model(1))
        };
        close(&device, places.iter().map(row), most, &|i| format!("rows at {:?}", places[i]));
        let host = planes.download().unwrap();
        let device = fetched(gpu, launch_2d_layered, &planes.texture(&sampling).unwrap(), &places);
        let plane = |place: &Place| {
            let texels = host[layer(place) * width * height..][..width * height].to_vec();
            Image { size: [width, height, 1], texels }.fetch([place[0], place[1], 0.0], model(2))
        };
        close(&device, places.iter().map(plane), most, &|i| format!("planes at {:?}", places[i]));
    }
}

fn cubes(gpu: &Gpu) {
    let (width, count) = (8, 3);
    let one = ArrayCube::upload(&gpu.device, width, &texels(6, 6 * width * width)).unwrap();
    let several = ArrayCubeLayered::upload(&gpu.device, (width, count), &texels(7, 6 * width * width * count)).unwrap();
    let mut numbers = random(8).map(|bits| (bits >> 40) as f32 / (1 << 23) as f32 - 1.0);
    let mut place = || -> Place { std::array::from_fn(|_| numbers.next().unwrap_or(0.0)) };
    // Away from edges of faces and texels, where rounding chooses.
    let is_clear = |place: &Place| {
        let (_, at, apart) = cube([place[0], place[1], place[2]]);
        apart > 0.02 && at.iter().all(|x| (0.1..0.9).contains(&(x * width as f32).fract()))
    };
    let places: Vec<Place> = std::iter::repeat_with(&mut place).filter(is_clear).take(2000).collect();
    let places: Vec<Place> = places.iter().enumerate().map(|(i, p)| [p[0], p[1], p[2], (i % count) as f32]).collect();
    let texel = |texels: &[f32], layer: usize, place: &Place| {
        let (face, [u, v], _) = cube([place[0], place[1], place[2]]);
        let (x, y) = ((u * width as f32) as usize, (v * width as f32) as usize);
        texels[((layer * 6 + face) * width + y) * width + x]
    };
    let host = one.download().unwrap();
    let device = fetched(gpu, launch_cube, &one.texture(&Sampling::nearest()).unwrap(), &places);
    close(&device, places.iter().map(|p| texel(&host, 0, p)), 0.0, &|i| format!("{:?}", places[i]));
    let host = several.download().unwrap();
    let texture = several.texture(&Sampling::nearest().seamless()).unwrap();
    let device = fetched(gpu, launch_cube_layered, &texture, &places);
    close(&device, places.iter().map(|p| texel(&host, p[3] as usize, p)), 0.0, &|i| format!("{:?}", places[i]));
}

fn pitched_memory(gpu: &Gpu) {
    let (width, height) = (37, 11);
    let pitch = pitch::<f32>(&gpu.device, width).unwrap();
    assert!(pitch >= width, "{pitch}");
    let memory = texels(11, pitch * height);
    let rows: Vec<f32> = memory.chunks(pitch).flat_map(|row| &row[..width]).copied().collect();
    let image = Image { size: [width, height, 1], texels: rows };
    let device = gpu.device.upload(&memory).unwrap();
    let places: Vec<Place> = (0..2000)
        .map(|i| [(i % 50) as f32 * 0.875 - 2.0 + 0.0625, (i / 50) as f32 * 0.375 - 1.0 + 0.0625, 0.0, 0.0])
        .collect();
    for is_linear in [false, true] {
        let sampling = if is_linear { Sampling::linear() } else { Sampling::nearest() };
        let texture = pitched(&gpu.device, &device, (width, height), pitch, &sampling).unwrap();
        let model = Model { is_linear, address: Address::Clamp, normalized: false, border: 0.0, dimensions: 2 };
        let host = places.iter().map(|p| image.fetch([p[0], p[1], 0.0], model));
        let most = if is_linear { 0.25 } else { 0.0 };
        close(&fetched(gpu, launch_2d, &texture, &places), host, most, &|i| format!("{:?}", places[i]));
    }
}

fn gathers(gpu: &Gpu) {
    let module = load(gpu);
    let (width, height) = (12, 9);
    let pixels: Vec<[f32; 4]> = texels(12, 4 * width * height).chunks(4).map(|p| [p[0], p[1], p[2], p[3]]).collect();
    let bytes: Vec<u8> = random(13).map(|bits| bits as u8).take(width * height).collect();
    let array = ArrayGather2d::upload(&gpu.device, (width, height), &pixels).unwrap();
    let array_of_bytes = ArrayGather2d::upload(&gpu.device, (width, height), &bytes).unwrap();
    let places: Vec<Place> = (0..400)
        .map(|i| [(i % 40) as f32 * 0.375 - 1.0 + 0.0625, (i / 40) as f32 * 1.125 - 1.0 + 0.0625, 0.0, 0.0])
        .collect();
    let four = |place: &Place| -> [usize; 4] {
        let [x, y] = [place[0], place[1]].map(|x| (x - 0.5).floor() as i64);
        [(0, 1), (1, 1), (1, 0), (0, 0)].map(|(i, j)| {
            let (x, y) = ((x + i).clamp(0, width as i64 - 1), (y + j).clamp(0, height as i64 - 1));
            (y * width as i64 + x) as usize
        })
    };
    let device = gpu.device.upload(&places).unwrap();
    let mut out = gpu.device.upload(&vec![[[0.0_f32; 4]; 4]; places.len()]).unwrap();
    let texture = array.texture(&Sampling::linear()).unwrap();
    run(gpu, &module, kernels::gather(&texture, &device, &mut out), places.len());
    let host = places.iter().map(|place| std::array::from_fn(|k| four(place).map(|texel| pixels[texel][k])));
    same(&gpu.device.download(&out).unwrap(), host);
    let mut out = gpu.device.upload(&vec![[0_u8; 4]; places.len()]).unwrap();
    let texture = array_of_bytes.texture(&Sampling::nearest()).unwrap();
    run(gpu, &module, kernels::gather_bytes(&texture, &device, &mut out), places.len());
    same(&gpu.device.download(&out).unwrap(), places.iter().map(|place| four(place).map(|texel| bytes[texel])));
    let floats = ArrayGather2d::upload(&gpu.device, (4, 4), &texels(14, 16)).unwrap();
    let texture = floats.texture(&Sampling::nearest()).unwrap();
    let places: Vec<Place> = (0..16).map(|i| [(i % 4) as f32 + 0.5, (i / 4) as f32 + 0.5, 0.0, 0.0]).collect();
    let device = gpu.device.upload(&places).unwrap();
    let mut out = gpu.device.zeroed::<f32>(16).unwrap();
    run(gpu, &module, kernels::fetch_gather(&texture, &device, &mut out), 16);
    same(&gpu.device.download(&out).unwrap(), floats.download().unwrap());
}

/// Sides of the images with levels.
const SIDE: usize = 64;

fn levels() -> Vec<Test> {
    vec![
        test("textures: levels and gradients, 1-D", |gpu| mipmaps::<OneD>(gpu, SIDE, lod_1d, grad_1d)),
        test("textures: levels and gradients, 2-D", |gpu| mipmaps::<TwoD>(gpu, (SIDE, SIDE), lod_2d, grad_2d)),
        test("textures: levels and gradients, 3-D", |gpu| mipmaps::<ThreeD>(gpu, (SIDE, SIDE, SIDE), lod_3d, grad_3d)),
        test("textures: levels and gradients, layers of rows", |gpu| {
            mipmaps::<OneDLayered>(gpu, (SIDE, 3), lod_1d_layered, grad_1d_layered);
        }),
        test("textures: levels and gradients, layers of planes", |gpu| {
            mipmaps::<TwoDLayered>(gpu, (SIDE, SIDE, 3), lod_2d_layered, grad_2d_layered);
        }),
        test("textures: levels and gradients, cubes", |gpu| mipmaps::<Cube>(gpu, SIDE, lod_cube, grad_cube)),
        test("textures: levels and gradients, layers of cubes", |gpu| {
            mipmaps::<CubeLayered>(gpu, (SIDE, 3), lod_cube_layered, grad_cube_layered);
        }),
    ]
}

/// Each level holds 8 times its number.
fn mipmaps<D: Geometry>(gpu: &Gpu, size: D::Size, lod: Fetch<D>, grad: Fetch<D>) {
    let mut image = Mipmapped::<D, f32>::zeroed(&gpu.device, size, 7).unwrap();
    for level in 0..image.levels() {
        let texels = vec![8.0 * level as f32; image.level_len(level)];
        image.write(level, &texels).unwrap();
        assert_eq!(image.download(level).unwrap(), texels);
    }
    let levels = [-3.0, 0.0, 0.25, 0.5, 1.0, 1.75, 3.0, 5.5, 6.0, 99.0];
    let place = |last: f32| -> Place { [1.0, 0.0, 0.0, last] };
    for (filter, first, last) in [(Filter::Linear, 0.0, 6.0), (Filter::Nearest, 0.0, 6.0), (Filter::Linear, 1.5, 3.0)] {
        let sampling = Sampling::linear().normalized().mipmaps(filter).mipmap_levels(first, last);
        let texture = image.texture(&sampling).unwrap();
        let places: Vec<Place> = levels.map(place).into();
        let host = levels.iter().map(|level: &f32| {
            let level = level.clamp(first, last);
            8.0 * if filter == Filter::Linear { level } else { level.round() }
        });
        let device = fetched(gpu, lod, &texture, &places);
        let what = |i: usize| format!("{filter:?} level {} of {first} to {last}", levels[i]);
        // Between two levels the nearest may be either.
        let most = if filter == Filter::Linear { 0.1 } else { 8.0 };
        close(&device, host, most, &what);
    }
    let texture = image.texture(&Sampling::linear().normalized().mipmaps(Filter::Linear)).unwrap();
    // So many texels from pixel to pixel; the coordinates of cubes run from -1 to 1.
    let whole = if D::extents(size) == Cube::extents(SIDE) || D::extents(size) == CubeLayered::extents((SIDE, 3)) {
        2.0
    } else {
        1.0
    };
    let texels = [1.0_f32, 2.0, 4.0, 8.0, 16.0];
    let places: Vec<Place> = texels.map(|texels| place(texels * whole / SIDE as f32)).into();
    let device = fetched(gpu, grad, &texture, &places);
    close(&device, texels.iter().map(|texels| 8.0 * texels.log2()), 4.0, &|i| format!("{} texels", texels[i]));
}

/// What is passed where no kernel is: the aliases are those of the generic types.
#[expect(dead_code, reason = "it must compile")]
fn aliases(
    a: Array1d<f32>,
    b: Array2d<f32>,
    c: Array3d<f32>,
) -> (Array<OneD, f32>, Array<TwoD, f32>, Array<ThreeD, f32>) {
    (a, b, c)
}
