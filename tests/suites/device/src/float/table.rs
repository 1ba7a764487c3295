//! The functions under test: what they are judged by, and inputs that mean something to them.

use ptx::compare::Exact;
use ptx::compare::cuda::{self, Bound, Entry};
use ptx_float_reference::Format;
use ptx_float_reference::inputs::{Random, special_operands};

use super::launch::{JudgeBound, UNBOUNDED};

/// A function under test: its kernel, and CUDA's function for the same.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// The kernel's name.
    pub kernel: &'static str,
    /// CUDA's name in double precision, or one of `judge.cuh`'s own.
    pub cuda: &'static str,
    /// How many arguments it has.
    pub arity: usize,
    /// CUDA's name for it if it is approximate, as in `__sinf`.
    pub approximate: Option<&'static str>,
}

/// All of them, as the build script wrote them down.
pub fn functions() -> impl Iterator<Item = Function> {
    const ROWS: &[(&str, &str, usize)] = include!(concat!(env!("OUT_DIR"), "/functions.rs"));
    ROWS.iter().map(|&(kernel, cuda, arity)| Function { kernel, cuda, arity, approximate: None })
}

/// The approximate ones, in single precision.
pub fn approximations() -> impl Iterator<Item = Function> {
    const ROWS: &[(&str, &str, &str, usize)] = include!(concat!(env!("OUT_DIR"), "/approximations.rs"));
    ROWS.iter().map(|&(kernel, name, cuda, arity)| Function { kernel, cuda, arity, approximate: Some(name) })
}

impl Function {
    /// The name by which MPFR's reference and CUDA's tables know it in double precision.
    pub fn name(&self) -> &'static str {
        match self.cuda {
            "sincos_sin" => "sin",
            "sincos_cos" => "cos",
            "sincospi_sin" => "sinpi",
            "sincospi_cos" => "cospi",
            "remquo_remainder" => "remainder",
            other => other,
        }
    }

    /// Its name in a list of results.
    pub fn title(&self, single: bool) -> String {
        if let Some(name) = self.approximate {
            return name.to_string();
        }
        let (stem, rest) = match self.cuda.split_once('_') {
            Some((stem @ ("sincos" | "sincospi" | "remquo" | "frexp" | "modf"), rest)) => (stem, format!(", {rest}")),
            Some(("op", rest)) => (rest, String::new()),
            _ => (self.cuda, String::new()),
        };
        format!("{stem}{}{rest}", if single { "f" } else { "" })
    }

    /// CUDA's bound; nothing for those that are compared with nvcc's results only.
    pub fn bound(&self, single: bool) -> Option<&'static Entry> {
        if let Some(name) = self.approximate {
            return cuda::single(name);
        }
        let operator = match self.cuda {
            "op_add" => Some("x+y"),
            "op_mul" => Some("x*y"),
            "op_div" => Some("x/y"),
            "op_rcp" => Some("1/x"),
            _ => None,
        };
        let name = operator.map_or_else(|| format!("{}{}", self.name(), if single { "f" } else { "" }), str::to_string);
        if single { cuda::single(&name) } else { cuda::double(&name) }
    }

    /// The function's reference: MPFR's, or Rust's where the result is exact.
    #[cfg(feature = "mpfr")]
    pub fn reference(&self) -> Option<fn(&[f64]) -> Exact> {
        let exact: fn(&[f64]) -> Exact = match self.cuda {
            "trunc" => |x| x[0].trunc().into(),
            "floor" => |x| x[0].floor().into(),
            "ceil" => |x| x[0].ceil().into(),
            "round" => |x| x[0].round().into(),
            "rint" | "nearbyint" => |x| x[0].round_ties_even().into(),
            "op_add" => |x| (x[0] + x[1]).into(),
            "op_mul" => |x| (x[0] * x[1]).into(),
            "op_div" => |x| (x[0] / x[1]).into(),
            "op_rcp" => |x| (1.0 / x[0]).into(),
            _ => return ptx_float_reference::function(self.name()),
        };
        Some(exact)
    }

    /// None: this was built without MPFR.
    #[cfg(not(feature = "mpfr"))]
    pub fn reference(&self) -> Option<fn(&[f64]) -> Exact> {
        None
    }
}

/// A bound in the judge's form.
pub fn judge_bound(entry: Option<&Entry>) -> JudgeBound {
    let base = JudgeBound { kind: UNBOUNDED, ..JudgeBound::default() };
    let ulps = |ulps: u64| u32::try_from(ulps).unwrap_or(u32::MAX);
    match entry.map(|entry| entry.bound) {
        Some(Bound::Ulps(most)) => JudgeBound { kind: 0, ulps: ulps(most), ..base },
        Some(Bound::UlpsOutside(most, a, b)) => JudgeBound { kind: 1, ulps: ulps(most), a, b, ..base },
        Some(Bound::UlpsBelow(most, a, absolute)) => JudgeBound { kind: 2, ulps: ulps(most), a, absolute, ..base },
        Some(Bound::UlpsByOrder(most, a, absolute)) => JudgeBound { kind: 3, ulps: ulps(most), a, absolute, ..base },
        Some(Bound::AbsoluteAtOrder(a, absolute)) => JudgeBound { kind: 4, a, absolute, ..base },
        Some(Bound::AbsoluteBeyondOrder(most, a, absolute)) => {
            JudgeBound { kind: 5, ulps: ulps(most), a, absolute, ..base }
        }
        Some(Bound::UlpsGrowing(most, a)) => JudgeBound { kind: 7, ulps: ulps(most), a, ..base },
        Some(Bound::AbsoluteBetween(a, b, absolute, most)) => JudgeBound { kind: 8, ulps: ulps(most), a, b, absolute },
        Some(Bound::AbsoluteWithin(a, absolute)) => JudgeBound { kind: 9, a, absolute, ..base },
        Some(Bound::Relative(absolute)) => JudgeBound { kind: 10, absolute, ..base },
        Some(Bound::UlpsForDivisor(most, exponent)) => {
            JudgeBound { kind: 11, ulps: ulps(most), a: 2_f64.powi(exponent), ..base }
        }
        _ => base,
    }
}

/// Where a function's argument is worth trying.
struct Domain {
    /// Evenly spread numbers.
    uniform: (f64, f64),
    /// Numbers with evenly spread exponents.
    exponents: (i32, i32),
    /// Whether those have both signs.
    signed: bool,
}

fn domain(name: &str) -> Domain {
    let of = |from: f64, to: f64, low: i32, high: i32| Domain {
        uniform: (from, to),
        exponents: (low, high),
        signed: from < 0.0,
    };
    match name {
        "sin" | "cos" | "tan" => of(-100.0, 100.0, -60, 200),
        "sinpi" | "cospi" => of(-10.0, 10.0, -60, 60),
        "asin" | "acos" | "atanh" | "erfinv" => of(-1.0, 1.0, -70, 0),
        "atan" | "asinh" | "tanh" => of(-10.0, 10.0, -60, 80),
        "sinh" | "cosh" => of(-711.0, 711.0, -60, 10),
        "acosh" => of(1.0, 100.0, 0, 1023),
        "exp" => of(-746.0, 710.0, -60, 10),
        "exp2" => of(-1075.0, 1024.5, -60, 10),
        "exp10" => of(-324.0, 309.0, -60, 9),
        "expm1" => of(-50.0, 710.0, -60, 10),
        "log" | "log2" | "log10" | "sqrt" | "rsqrt" => of(0.0, 4.0, -1074, 1023),
        "log1p" => of(-1.0, 4.0, -60, 1023),
        "cbrt" | "rcbrt" => of(-1000.0, 1000.0, -1074, 1023),
        "erf" => of(-6.0, 6.0, -60, 3),
        "erfc" => of(-6.0, 27.5, -60, 5),
        "erfcx" => of(-26.7, 100.0, -60, 300),
        "erfcinv" => of(0.0, 2.0, -1074, 0),
        "normcdf" => of(-38.6, 9.0, -60, 5),
        "normcdfinv" => of(0.0, 1.0, -1074, -1),
        "lgamma" => of(-60.0, 200.0, -60, 900),
        "tgamma" => of(-185.0, 172.0, -60, 8),
        "j0" | "j1" => of(-100.0, 100.0, -60, 30),
        "y0" | "y1" => of(0.0, 100.0, -60, 30),
        "cyl_bessel_i0" | "cyl_bessel_i1" => of(-714.0, 714.0, -60, 10),
        "trunc" | "floor" | "ceil" | "round" | "rint" | "nearbyint" => of(-10.0, 10.0, -3, 60),
        _ => of(-1000.0, 1000.0, -1074, 1023),
    }
}

fn spread(random: &mut Random, domain: &Domain) -> f64 {
    let unit = random.unit();
    match random.bits() % 8 {
        0..=3 => domain.uniform.0 + unit * (domain.uniform.1 - domain.uniform.0),
        _ => {
            let (low, high) = domain.exponents;
            let exponent = low + (random.bits() % (high - low + 1) as u64) as i32;
            // Twice a power, so that subnormal numbers are reached as well.
            let value =
                (0.5 + unit / 2.0) * 2_f64.powi((exponent + 1) / 2) * 2_f64.powi(exponent + 1 - (exponent + 1) / 2);
            if domain.signed && random.bits() & 1 == 1 { -value } else { value }
        }
    }
}

/// One row of arguments.
fn row<T: Format>(function: &Function, random: &mut Random) -> [f64; 4] {
    let limit = -T::MIN_EXPONENT;
    let any = |random: &mut Random| random.any::<T>().to_f64();
    let exponent = |random: &mut Random, reach: i32| (random.bits() % (2 * reach as u64 + 1)) as i32 - reach;
    let scaled = |random: &mut Random, exponent: i32| {
        let sign = if random.bits() & 1 == 1 { -1.0 } else { 1.0 };
        sign * (1.0 + random.unit()) * 2_f64.powi(exponent)
    };
    if function.arity == 1 {
        let domain = domain(function.name());
        return match random.bits() % 16 {
            0 => [any(random), 0.0, 0.0, 0.0],
            // Near the domain's ends.
            1 => {
                let end = if random.bits() & 1 == 1 { domain.uniform.0 } else { domain.uniform.1 };
                [end * (1.0 - random.unit() * 2_f64.powi(-(random.bits() as i32 & 31))), 0.0, 0.0, 0.0]
            }
            _ => [spread(random, &domain), 0.0, 0.0, 0.0],
        };
    }
    if random.bits().is_multiple_of(16) {
        let numbers = [any(random), any(random), any(random), any(random)];
        // Orders of Bessel functions cost as much time as they are large.
        return if matches!(function.cuda, "jn" | "yn") { [3.0, numbers[1], 0.0, 0.0] } else { numbers };
    }
    match function.cuda {
        "pow" => {
            let reach = f64::from(limit) * 1.01;
            let x = match random.bits() % 4 {
                0 => 1.0 + (random.unit() - 0.5) * 2_f64.powi(-(random.bits() as i32 & 15)),
                1 => 10.0 * random.unit(),
                _ => 2_f64.powi(exponent(random, limit - 2)) * (1.0 + random.unit()),
            };
            let y = match random.bits() % 4 {
                0 => ((random.unit() - 0.5) * 40.0).round(),
                _ => (random.unit() * 2.0 - 1.0) * reach / x.log2().abs().max(1e-6),
            };
            [if y == y.round() && random.bits() & 1 == 1 { -x } else { x }, y, 0.0, 0.0]
        }
        "powi" => {
            let base = exponent(random, 8);
            [scaled(random, base), f64::from(exponent(random, limit)), 0.0, 0.0]
        }
        "jn" => [128.0, random.unit() * if random.bits() & 1 == 1 { 400.0 } else { 1e4 }, 0.0, 0.0],
        "yn" => {
            let order = [0.0, 1.0, 2.0, 3.0, 5.0, 10.0][random.bits() as usize % 6];
            [order, random.unit() * if random.bits() & 1 == 1 { 30.0 } else { 1000.0 }, 0.0, 0.0]
        }
        "ldexp" | "scalbn" | "scalbln" => {
            let base = exponent(random, limit);
            [scaled(random, base), f64::from(exponent(random, 2 * limit)), 0.0, 0.0]
        }
        "fmod" | "remainder" | "remquo_remainder" | "remquo_quotient" => {
            let base = exponent(random, limit - 60);
            let near = base + exponent(random, 40);
            [scaled(random, near), scaled(random, base), 0.0, 0.0]
        }
        _ => {
            let base = exponent(random, limit - 2);
            let mut near = || {
                let reach = if random.bits() & 1 == 1 { 3 } else { 40 };
                let shift = exponent(random, reach);
                scaled(random, (base + shift).clamp(-limit, limit))
            };
            [near(), near(), near(), near()]
        }
    }
}

/// A piece of all columns, and its number.
type Piece<'a, T> = (usize, Vec<&'a mut [T]>);

/// Arguments by columns: special numbers first, then so many random rows in all.
pub fn arguments<T: Format>(function: &Function, count: usize) -> Vec<Vec<T>> {
    const PIECE: usize = 1 << 16;
    let special = special_operands::<T>();
    let mut columns = vec![vec![T::default(); count]; function.arity];
    let pieces = count.div_ceil(PIECE);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    // Every column is cut into the same pieces; thread n takes each piece whose number leaves n.
    let mut work: Vec<Vec<Piece<'_, T>>> = (0..threads).map(|_| Vec::new()).collect();
    let mut cut: Vec<_> = columns.iter_mut().map(|column| column.chunks_mut(PIECE)).collect();
    for piece in 0..pieces {
        work[piece % threads].push((piece, cut.iter_mut().filter_map(Iterator::next).collect()));
    }
    std::thread::scope(|scope| {
        for work in work {
            let special = &special;
            scope.spawn(move || {
                for (piece, mut columns) in work {
                    let mut random = Random::new(piece as u64 + 1);
                    for i in 0..columns[0].len() {
                        let random_row = row::<T>(function, &mut random);
                        let special_row = special.get(piece * PIECE + i);
                        for (argument, column) in columns.iter_mut().enumerate() {
                            column[i] = match special_row {
                                // An order is no special number.
                                Some(_) if matches!(function.cuda, "jn" | "yn") && argument == 0 => {
                                    T::from_f64(random_row[0])
                                }
                                Some(row) => row[argument % 3],
                                None => T::from_f64(random_row[argument]),
                            };
                            // As an exponent, a NaN is 0 in Rust, and another number in CUDA C++.
                            let is_exponent =
                                matches!(function.cuda, "ldexp" | "scalbn" | "scalbln" | "powi") && argument == 1;
                            if is_exponent && column[i].to_f64().is_nan() {
                                column[i] = T::default();
                            }
                        }
                    }
                }
            });
        }
    });
    columns
}
