//! What the texture unit computes, on the CPU (CUDA C++ Programming Guide, "Texture Fetching").

use ptx::texture::Address;

/// An image of up to three dimensions, of which the absent ones are 1.
#[derive(Clone, Debug)]
pub struct Image {
    pub size: [usize; 3],
    pub texels: Vec<f32>,
}

/// How it is read.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    pub is_linear: bool,
    pub address: Address,
    pub normalized: bool,
    pub border: f32,
    pub dimensions: usize,
}

impl Image {
    fn texel(&self, at: [i64; 3], model: Model) -> f32 {
        let mut index = [0; 3];
        for k in 0..model.dimensions {
            let size = self.size[k] as i64;
            let i = at[k];
            index[k] = match model.address {
                Address::Clamp => i.clamp(0, size - 1),
                Address::Border if !(0..size).contains(&i) => return model.border,
                Address::Border => i,
                Address::Wrap => i.rem_euclid(size),
                Address::Mirror => {
                    let i = i.rem_euclid(2 * size);
                    i.min(2 * size - 1 - i)
                }
            } as usize;
        }
        self.texels[index[0] + self.size[0] * (index[1] + self.size[1] * index[2])]
    }

    /// What a fetch there gives.
    pub fn fetch(&self, place: [f32; 3], model: Model) -> f32 {
        let mut first = [0_i64; 3];
        let mut weight = [0.0_f64; 3];
        for k in 0..model.dimensions {
            let scale = if model.normalized { self.size[k] as f64 } else { 1.0 };
            let x = f64::from(place[k]) * scale - if model.is_linear { 0.5 } else { 0.0 };
            (first[k], weight[k]) = (x.floor() as i64, x - x.floor());
        }
        if !model.is_linear {
            return self.texel(first, model);
        }
        let corners = (0..1 << model.dimensions).map(|corner: usize| {
            let (mut at, mut share) = (first, 1.0);
            for k in 0..model.dimensions {
                let is_far = corner >> k & 1;
                at[k] += is_far as i64;
                share *= if is_far == 1 { weight[k] } else { 1.0 - weight[k] };
            }
            share * f64::from(self.texel(at, model))
        });
        corners.sum::<f64>() as f32
    }
}

/// Face and coordinates from 0 to 1 of a direction (guide, "Cubemap Textures"), and how far the choice of the face is from
/// another.
pub fn cube([x, y, z]: [f32; 3]) -> (usize, [f32; 2], f32) {
    let [ax, ay, az] = [x, y, z].map(f32::abs);
    let (face, m, s, t) = if ax >= ay && ax >= az {
        if x >= 0.0 { (0, x, -z, -y) } else { (1, -x, z, -y) }
    } else if ay >= az {
        if y >= 0.0 { (2, y, x, z) } else { (3, -y, x, -z) }
    } else if z >= 0.0 {
        (4, z, x, -y)
    } else {
        (5, -z, -x, -y)
    };
    let mut all = [ax, ay, az];
    all.sort_by(f32::total_cmp);
    (face, [(s / m + 1.0) / 2.0, (t / m + 1.0) / 2.0], all[2] - all[1])
}
