// Particles: gravity between all pairs, and orbits.
#include "bench.cuh"

KERNEL nbody(SLICE(float4, bodies), SLICE_MUT(float4, accelerations)) {
    int i = index_1d(), n = bodies_len;
    if (i >= (int)accelerations_len) return;
    float4 me = bodies[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int k = 0; k < n; k++) {
        float4 other = bodies[k];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
        float force = other.w * inverse * inverse * inverse;
        ax += force * dx;
        ay += force * dy;
        az += force * dz;
    }
    accelerations[i] = make_float4(ax, ay, az, 0.0f);
}

KERNEL kepler(double eccentricity, SLICE(double, mean), SLICE_MUT(double, anomalies)) {
    int i = index_1d();
    if (i >= (int)anomalies_len) return;
    double m = mean[i], anomaly = m;
    for (int step = 0; step < 8; step++) {
        double s, c;
        sincos(anomaly, &s, &c);
        anomaly -= (anomaly - eccentricity * s - m) / (1.0 - eccentricity * c);
    }
    anomalies[i] = anomaly;
}
