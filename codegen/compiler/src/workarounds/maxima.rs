//! Minima and maxima of numbers that may be negations.
//!
//! ptxas 13.0.88 makes `VIMNMX3` of `max(max(a, b), c)`, and of `min`. If `b` is a negation, it takes the number that was
//! negated in its place: programs with `x.max(y.wrapping_neg()).max(z)` had other results on an H200. `a` and `c` are
//! negated by an instruction of their own. The machine code is wrong for sm_90 to sm_103 if it is optimised. A difference
//! becomes a negation in the first round of a loop that ptxas unrolls, where it sees that the minuend is 0.
//!
//! So what may be a negation becomes the first operand. If both may be, 0 is added to the second, of which ptxas only knows
//! that threads may differ in it:
//!
//! ```text
//! neg.s32 %r2, %r1;
//! max.s32 %r4, %r3, %r2;
//! ```
//!
//! becomes
//!
//! ```text
//! neg.s32 %r2, %r1;
//! max.s32 %r4, %r2, %r3;
//! ```

use std::collections::{HashMap, HashSet};

use crate::ptx_text;

/// Where the bug is; of numbers without signs the machine code is right.
const MAXIMA: [&str; 2] = ["max.s32", "min.s32"];

/// What may be a negation.
const DIFFERENCES: [&str; 3] = ["neg.s32", "sub.s32", "sub.u32"];

/// What hands a register on, as into a loop.
const COPIES: [&str; 3] = ["mov.b32", "mov.u32", "mov.s32"];

/// A function's registers that may be negations, by its name.
pub struct Negations<'a>(HashSet<(&'a str, &'a str)>);

impl<'a> Negations<'a> {
    /// Finds those of all functions.
    pub fn of(ptx: &'a str) -> Self {
        let mut found = HashSet::new();
        // Most programs have no minimum, and most functions of others.
        let has_any = |text: &str| MAXIMA.iter().any(|name| text.contains(name));
        if !has_any(ptx) {
            return Self(found);
        }
        for definition in ptx_text::definitions(ptx).filter(|definition| has_any(definition.body)) {
            let (mut copies, mut pending) = (HashMap::<_, Vec<_>>::new(), Vec::new());
            for line in ptx_text::lines(definition.body) {
                let Some((name, operands)) = statement(line.code()) else { continue };
                match operands.as_slice() {
                    [result, .., last] if DIFFERENCES.contains(&name) && last.starts_with('%') => pending.push(*result),
                    [result, source] if COPIES.contains(&name) => copies.entry(*source).or_default().push(*result),
                    _ => (),
                }
            }
            while let Some(register) = pending.pop() {
                if found.insert((definition.function.name, register)) {
                    pending.extend(copies.get(register).into_iter().flatten());
                }
            }
        }
        Self(found)
    }

    /// A minimum or maximum without a negation where ptxas loses it.
    pub fn rewritten(&self, code: &str, function: &str) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let (name, operands) = statement(code).filter(|(name, _)| MAXIMA.contains(name))?;
        let [result, first, second] = operands[..] else { return None };
        let may_be = |register| self.0.contains(&(function, register));
        if !may_be(second) {
            return None;
        }
        if !may_be(first) {
            return Some(format!("{name} \t{result}, {second}, {first};"));
        }
        Some(format!(
            "{{ .reg .b32 %zero; mov.u32 %zero, %tid.x; shr.u32 %zero, %zero, 31; add.s32 %zero, %zero, {second}; \
             {name} {result}, {first}, %zero; }}"
        ))
    }
}

/// One of the instructions above, and its operands.
fn statement(code: &str) -> Option<(&str, Vec<&str>)> {
    let (name, operands) = code.strip_suffix(';')?.split_once(char::is_whitespace)?;
    let is_known = [MAXIMA.as_slice(), &DIFFERENCES, &COPIES].iter().any(|names| names.contains(&name));
    (is_known && !operands.contains(';')).then(|| (name, operands.split(',').map(str::trim).collect()))
}

#[cfg(test)]
mod tests {
    use super::super::rewrite;

    fn of(body: &str) -> String {
        let (head, tail) = (".visible .entry k()\n{\n", "}\n");
        let text = rewrite(&format!("{head}{body}{tail}"), "sm_90".parse().expect("an arch"));
        text.strip_prefix(head).and_then(|text| text.strip_suffix(tail)).expect("they stay").to_string()
    }

    /// What the last line becomes.
    fn last(body: &str) -> String {
        let text = of(body);
        let (_, last) = text.trim_end().rsplit_once('\n').expect("lines");
        last.to_string()
    }

    #[test]
    fn negations_come_first() {
        let maximum = "\tmax.s32 \t%r4, %r3, %r2;\n";
        let swapped = "\tmax.s32 \t%r4, %r2, %r3;";
        for negation in ["\tneg.s32 \t%r2, %r1;\n", "\tsub.s32 \t%r2, 0, %r1;\n", "\tsub.s32 \t%r2, %r9, %r1;\n"] {
            assert_eq!(last(&format!("{negation}{maximum}")), swapped);
        }
        assert_eq!(last("\tneg.s32 \t%r2, %r1;\n\tmin.s32 \t%r4, 7, %r2;\n"), "\tmin.s32 \t%r4, %r2, 7;");
    }

    #[test]
    fn a_negation_goes_through_copies_in_any_order() {
        let body = "\tneg.s32 \t%r1, %r0;\n\tmov.b32 \t%r3, %r2;\n\tmov.b32 \t%r2, %r1;\n\tmax.s32 \t%r3, %r5, %r3;\n";
        assert_eq!(last(body), "\tmax.s32 \t%r3, %r3, %r5;");
    }

    #[test]
    fn of_two_the_second_is_hidden() {
        let text = last("\tneg.s32 \t%r2, %r1;\n\tsub.s32 \t%r3, %r0, %r1;\n\tmax.s32 \t%r4, %r2, %r3;\n");
        assert!(text.contains("add.s32 %zero, %zero, %r3; max.s32 %r4, %r2, %zero; }"), "{text}");
    }

    #[test]
    fn others_stay() {
        let negation = "\tneg.s32 \t%r2, %r1;\n";
        for line in [
            "\tmax.s32 \t%r4, %r2, %r3;\n",
            "\tmax.s32 \t%r4, %r3, 5;\n",
            "\tmax.u32 \t%r4, %r3, %r2;\n",
            "\tmax.s32 \t%r2, %r3, %r5;\n",
            "\t@%p1 max.s32 \t%r4, %r3, %r2;\n",
        ] {
            assert_eq!(of(&format!("{negation}{line}")), format!("{negation}{line}"));
        }
        // What a number is taken from is no negation.
        let difference = "\tsub.s32 \t%r2, %r1, 5;\n\tmax.s32 \t%r4, %r3, %r2;\n";
        assert_eq!(of(difference), difference);
        // Another function's register of that name.
        let both = format!(".func f()\n{{\n{negation}}}\n.func g()\n{{\n\tmax.s32 \t%r4, %r3, %r2;\n}}\n");
        assert_eq!(rewrite(&both, "sm_90".parse().expect("an arch")), both);
    }
}
