//! Rows of `ptx::texture`. The handles are `q` and `r`; results are stored through `s`.

use super::row::{Row, row};

/// What a fetch can give: in Rust, in CUDA C++.
const TEXELS: [(&str, &str, &str); 21] = [
    ("u8", "u8", "unsigned char"),
    ("u16", "u16", "unsigned short"),
    ("u32", "u32", "unsigned"),
    ("i8", "i8", "signed char"),
    ("i16", "i16", "short"),
    ("i32", "i32", "int"),
    ("f32", "f32", "float"),
    ("u8x2", "[u8; 2]", "uchar2"),
    ("u16x2", "[u16; 2]", "ushort2"),
    ("u32x2", "[u32; 2]", "uint2"),
    ("i8x2", "[i8; 2]", "char2"),
    ("i16x2", "[i16; 2]", "short2"),
    ("i32x2", "[i32; 2]", "int2"),
    ("f32x2", "[f32; 2]", "float2"),
    ("u8x4", "[u8; 4]", "uchar4"),
    ("u16x4", "[u16; 4]", "ushort4"),
    ("u32x4", "[u32; 4]", "uint4"),
    ("i8x4", "[i8; 4]", "char4"),
    ("i16x4", "[i16; 4]", "short4"),
    ("i32x4", "[i32; 4]", "int4"),
    ("f32x4", "[f32; 4]", "float4"),
];

/// Dimensions: the type's ending, CUDA's function, the coordinates of both, and the gradients.
const TEXTURES: [(&str, &str, &str, &str, &str, &str); 7] = [
    ("1d", "tex1D", "f", "f", "g, h", "g, h"),
    ("2d", "tex2D", "f, g", "f, g", "[g, h], [h, f]", "make_float2(g, h), make_float2(h, f)"),
    ("3d", "tex3D", "f, g, h", "f, g, h", GRADIENT, CUDA_GRADIENT),
    ("1dLayered", "tex1DLayered", "u, f", "f, u", "g, h", "g, h"),
    ("2dLayered", "tex2DLayered", "u, f, g", "f, g, u", "[g, h], [h, f]", "make_float2(g, h), make_float2(h, f)"),
    ("Cube", "texCubemap", "f, g, h", "f, g, h", GRADIENT, CUDA_GRADIENT),
    ("CubeLayered", "texCubemapLayered", "u, f, g, h", "f, g, h, u", GRADIENT, CUDA_GRADIENT),
];
const GRADIENT: &str = "[g, h, f], [h, f, g]";
const CUDA_GRADIENT: &str = "make_float4(g, h, f, f), make_float4(h, f, g, g)";

/// Surfaces: the type's ending, CUDA's function, the coordinates, and CUDA's behind `x` in bytes.
const SURFACES: [(&str, &str, &str, &str); 7] = [
    ("1d", "surf1D", "i", ""),
    ("2d", "surf2D", "i, j", ", j"),
    ("3d", "surf3D", "i, j, k", ", j, k"),
    ("1dLayered", "surf1DLayered", "j, i", ", j"),
    ("2dLayered", "surf2DLayered", "k, i, j", ", j, k"),
    ("Cube", "surfCubemap", "k, i, j", ", j, k"),
    ("CubeLayered", "surfCubemapLayered", "k, i, j", ", j, k"),
];

/// Fetches of every dimension and type, loads and stores of surfaces.
pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, rust, cuda) in TEXELS {
        for (ending, function, ours, theirs, our_gradient, their_gradient) in TEXTURES {
            let texture = format!("Texture{ending}::<{rust}>::from_object(TextureObject(q))");
            let mut add = |kind: &str, our: String, their: String| {
                rows.push(row(
                    format!("fetch{kind}_{ending}_{name}").to_lowercase(),
                    '-',
                    format!("let (g, h) = (d as f32, l as f32); {}", stored(rust, &format!("{texture}.{our}"))),
                    format!("float g = d, h = l; {}", cuda_stored(cuda, &their)),
                ));
            };
            add("", format!("fetch({ours})"), format!("{function}<{cuda}>(q, {theirs})"));
            // The type changes nothing of what follows the dimension: three stand for all.
            if ["f32", "u8x4", "i32x2"].contains(&name) {
                add("_lod", format!("fetch_lod({ours}, g)"), format!("{function}Lod<{cuda}>(q, {theirs}, g)"));
                add(
                    "_grad",
                    format!("fetch_grad({ours}, {our_gradient})"),
                    format!("{function}Grad<{cuda}>(q, {theirs}, {their_gradient})"),
                );
            }
        }
        rows.push(row(
            format!("fetch_linear_{name}"),
            '-',
            stored(rust, &format!("TextureLinear::<{rust}>::from_object(TextureObject(q)).get(i)")),
            cuda_stored(cuda, &format!("tex1Dfetch<{cuda}>(q, i)")),
        ));
        surfaces(&mut rows, name, rust, cuda);
    }
    for (name, rust, cuda) in [("f32", "f32", "float"), ("i16", "i16", "short"), ("u8", "u8", "unsigned char")] {
        for component in 0..4 {
            let four = format!("{}4", cuda.replace("unsigned ", "u"));
            let texture = format!("TextureGather2d::<[{rust}; 4]>::from_object(TextureObject(q))");
            rows.push(row(
                format!("gather_{component}_{name}"),
                '-',
                stored(&format!("[{rust}; 4]"), &format!("{texture}.gather::<{component}>(f, d as f32)")),
                cuda_stored(&four, &format!("tex2Dgather<{four}>(q, f, (float)d, {component})")),
            ));
        }
    }
    rows
}

fn surfaces(rows: &mut Vec<Row>, name: &str, rust: &str, cuda: &str) {
    for (ending, function, ours, theirs) in SURFACES {
        let surface = format!("Surface{ending}::<{rust}>::from_object(SurfaceObject(r))");
        for bounds in ["Trap", "Clamp", "Zero"] {
            // As above: dimensions and what is done outside change nothing of the rest.
            if (bounds != "Trap" || ending != "2d") && !["f32", "u8", "i16x2", "u32x4"].contains(&name) {
                continue;
            }
            let place = format!("i * (int)sizeof({cuda}){theirs}, cudaBoundaryMode{bounds}");
            rows.push(row(
                format!("read_{bounds}_{ending}_{name}").to_lowercase(),
                '-',
                stored(rust, &format!("{surface}.read({ours}, Bounds::{bounds})")),
                cuda_stored(cuda, &format!("{function}read<{cuda}>(r, {place})")),
            ));
            rows.push(row(
                format!("write_{bounds}_{ending}_{name}").to_lowercase(),
                '-',
                format!("{surface}.write({ours}, {}, Bounds::{bounds});", loaded(rust)),
                format!("{} {function}write(value, r, {place});", cuda_loaded(cuda)),
            ));
        }
    }
}

/// The number's type, and how many there are.
fn lanes(rust: &str) -> (&str, usize) {
    match rust.trim_matches(['[', ']']).split_once("; ") {
        Some((lane, count)) => (lane, count.parse().expect("2 or 4")),
        None => (rust, 1),
    }
}

/// The number's type, and the names of all.
fn cuda_lanes(cuda: &str) -> (String, Vec<&'static str>) {
    let count = cuda.chars().last().and_then(|last| last.to_digit(10)).unwrap_or(1);
    let lane = cuda.trim_end_matches(['2', '4']);
    let is_short_form = count > 1 && lane.starts_with('u');
    let lane = if is_short_form { format!("unsigned {}", &lane[1..]) } else { lane.to_string() };
    (lane, ["x", "y", "z", "w"].into_iter().take(count as usize).collect())
}

/// Stores number by number: how several become one store is not what is compared.
fn stored(rust: &str, value: &str) -> String {
    let (lane, count) = lanes(rust);
    let store = |k| {
        let part = if count == 1 { String::new() } else { format!("[{k}]") };
        format!(" (s as *mut {lane}).add({k}).write_volatile(value{part});")
    };
    format!("let value = {value};{}", (0..count).map(store).collect::<String>())
}

fn cuda_stored(cuda: &str, value: &str) -> String {
    let (lane, names) = cuda_lanes(cuda);
    let store = |(k, name): (usize, &&str)| {
        let part = if names.len() == 1 { String::new() } else { format!(".{name}") };
        format!(" ((volatile {lane}*)s)[{k}] = value{part};")
    };
    format!("{cuda} value = {value};{}", names.iter().enumerate().map(store).collect::<String>())
}

/// Loaded in the same way.
fn loaded(rust: &str) -> String {
    let (lane, count) = lanes(rust);
    let load = |k| format!("(s as *const {lane}).add({k}).read_volatile()");
    if count == 1 { load(0) } else { format!("[{}]", (0..count).map(load).collect::<Vec<_>>().join(", ")) }
}

fn cuda_loaded(cuda: &str) -> String {
    let (lane, names) = cuda_lanes(cuda);
    let load = |(k, name): (usize, &&str)| {
        let part = if names.len() == 1 { String::new() } else { format!(".{name}") };
        format!(" value{part} = ((const volatile {lane}*)s)[{k}];")
    };
    format!("{cuda} value;{}", names.iter().enumerate().map(load).collect::<String>())
}
