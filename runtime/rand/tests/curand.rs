//! The numbers are CURAND's: compared with what its own functions gave (`tests/curand/vectors.cpp`).

use ptx_rand::{Generator, Mrg32k3a, Philox4x32, Xorwow};

const VECTORS: &str = include_str!("curand/vectors.txt");

/// A number that a line has: an integer as it is, a float by its bits, each with how far it may be off.
#[derive(Debug)]
enum Number {
    Exact(f64),
    /// Computed with the host's library, which differs from machine to machine.
    About(f64, f64),
}
use Number::{About, Exact};

fn numbers<G: Generator>(random: &mut G, function: &str) -> Vec<Number> {
    let bits = |random: &mut G| Exact(random.bits().into());
    let single = |x: f32| About(x.into(), 1e-5);
    let double = |x: f64| About(x, 1e-13);
    match function {
        "bits" => (0..9).map(|_| bits(random)).collect(),
        "skipped" => {
            random.skip(1);
            let first = bits(random);
            random.skip(0x1_0000_000f);
            let second = bits(random);
            random.skip_subsequences(0x30_0000_0001);
            vec![first, second, bits(random), bits(random)]
        }
        "uniform" => (0..5).map(|_| Exact(random.uniform().into())).collect(),
        "uniform_f64" => (0..5).map(|_| Exact(random.uniform_f64())).collect(),
        "normal" => {
            let mut numbers: Vec<f32> = (0..5).map(|_| random.normal()).collect();
            numbers.extend([random.log_normal(0.5, 0.25), random.log_normal(1.5, 1.25), random.normal()]);
            numbers.extend(random.normal2());
            numbers.into_iter().map(single).collect()
        }
        "normal_f64" => {
            _ = random.bits();
            let mut numbers: Vec<f64> = (0..5).map(|_| random.normal_f64()).collect();
            numbers.extend([random.log_normal_f64(0.5, 0.25), random.log_normal_f64(1.5, 1.25), random.normal_f64()]);
            numbers.into_iter().map(double).collect()
        }
        "poisson" => {
            let lambdas = [0.5, 3.5, 40.0, 63.9, 64.0, 200.0, 1000.5, 4000.0, 4001.0, 1e9];
            lambdas.map(|lambda| Exact(random.poisson(lambda).into())).into()
        }
        other => panic!("`{other}` is not known"),
    }
}

fn philox(random: &mut Philox4x32, function: &str) -> Option<Vec<Number>> {
    match function {
        "four" => {
            let fours = (0..4).flat_map(|_| {
                let four = random.bits4();
                four.into_iter().chain([random.bits()]).map(|bits| Exact(bits.into())).collect::<Vec<_>>()
            });
            Some(fours.collect())
        }
        "uniform2_f64" => {
            _ = random.bits();
            Some((0..3).flat_map(|_| random.uniform2_f64()).map(Exact).collect())
        }
        _ => None,
    }
}

/// C's hexadecimal notation, or an integer.
fn parse(text: &str) -> f64 {
    let (sign, text) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let Some(hex) = text.strip_prefix("0x") else { return sign * text.parse::<f64>().expect("a number") };
    let (digits, exponent) = hex.split_once('p').expect("an exponent");
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mantissa = u64::from_str_radix(&format!("{whole}{fraction}"), 16).expect("hexadecimal digits");
    let exponent: i32 = exponent.parse().expect("a number");
    sign * mantissa as f64 * f64::from(exponent - 4 * fraction.len() as i32).exp2()
}

#[test]
fn as_curand_on_the_host() {
    let mut compared = 0;
    for line in VECTORS.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [name, seed, subsequence, offset, function, expected @ ..] = words.as_slice() else {
            panic!("not a line: {line}")
        };
        let [seed, subsequence, offset] = [seed, subsequence, offset].map(|word| word.parse().expect("an integer"));
        let numbers = match *name {
            "Philox4x32" => {
                let mut random = Philox4x32::new(seed, subsequence, offset);
                philox(&mut random, function).unwrap_or_else(|| numbers(&mut random, function))
            }
            "Xorwow" => numbers(&mut Xorwow::new(seed, subsequence, offset), function),
            "Mrg32k3a" => numbers(&mut Mrg32k3a::new(seed, subsequence, offset), function),
            other => panic!("`{other}` is not known"),
        };
        assert_eq!(numbers.len(), expected.len(), "{line}");
        for (at, (number, expected)) in numbers.iter().zip(expected).enumerate() {
            let expected = parse(expected);
            let same = match *number {
                Exact(number) => number == expected,
                About(number, off) => (number - expected).abs() <= off * expected.abs().max(1.0),
            };
            assert!(same, "number {at} is {number:?}, not {expected}, in: {line}");
            compared += 1;
        }
    }
    assert!(compared > 800, "only {compared} numbers");
}
