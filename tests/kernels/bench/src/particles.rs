//! Particles: gravity between all pairs, and orbits.

use ptx::prelude::*;
use ptx::vec::Float4;

/// Keeps the force between bodies finite that are close to each other.
pub const SOFTENING: f32 = 1e-3;

/// The acceleration of each body by all others; `w` is a body's mass.
#[kernel]
pub fn nbody(bodies: &[Float4], mut accelerations: DisjointSlice<Float4>) {
    let i = thread::index_1d();
    if let Some(acceleration) = accelerations.get_mut(i) {
        let me = bodies[i.get()];
        let (mut ax, mut ay, mut az) = (0.0, 0.0, 0.0);
        for other in bodies {
            let (dx, dy, dz) = (other.x - me.x, other.y - me.y, other.z - me.z);
            let inverse = (dx * dx + dy * dy + dz * dz + SOFTENING).rsqrt();
            let force = other.w * inverse * inverse * inverse;
            ax += force * dx;
            ay += force * dy;
            az += force * dz;
        }
        *acceleration = Float4::new(ax, ay, az, 0.0);
    }
}

/// Kepler's equation E - e sin E = M by Newton's method.
#[kernel]
pub fn kepler(eccentricity: f64, mean: &[f64], mut anomalies: DisjointSlice<f64>) {
    let i = thread::index_1d();
    if let Some(out) = anomalies.get_mut(i) {
        let mean = mean[i.get()];
        let mut anomaly = mean;
        for _ in 0..8 {
            let (sin, cos) = anomaly.sin_cos();
            anomaly -= (anomaly - eccentricity * sin - mean) / (1.0 - eccentricity * cos);
        }
        *out = anomaly;
    }
}
