//! Checks of indices: of neighbours in a plane, of columns, of what is clamped or left by a division, of parts of a slice, some
//! behind branches.

use arbtest::arbitrary::Result;

use super::functions::Text;

/// How far a neighbour is away.
const STEPS: [&str; 4] = ["1", "-1", "2", "-2"];

/// Lengths: what is given, and the size of a plane.
const LENGTHS: [&str; 5] = ["%L", "%L", "%L", "%M", "%P"];

impl Text<'_, '_> {
    /// Reads an element, or more, each behind a check.
    pub fn check(&mut self) -> Result<()> {
        match self.u.int_in_range(0..=99)? {
            0..=49 => self.guarded(),
            50..=62 => self.neighbours(),
            63..=68 => self.part(),
            69..=78 => self.columns(),
            _ => self.any(),
        }
    }

    fn computed_wide(&mut self, index: &str) -> Result<String> {
        let extend = self.pick(&["sext", "zext"])?;
        Ok(self.compute(&format!("{extend} i32 {index} to i64")))
    }

    /// Goes on where an index is below a length, in one of the ways to write that.
    fn is_inside(&mut self, index: &str, len: &str) -> Result<()> {
        let (panic, inside) = (self.panic(index)?, self.label());
        let (compared, then, other) = match self.u.int_in_range(0..=2)? {
            0 => (format!("uge i64 {index}, {len}"), &panic, &inside),
            1 => (format!("ugt i64 {len}, {index}"), &inside, &panic),
            _ => (format!("ult i64 {index}, {len}"), &inside, &panic),
        };
        let condition = self.compute(&format!("icmp {compared}"));
        self.line(&format!("br i1 {condition}, label %{then}, label %{other}"));
        self.begin(&inside);
        Ok(())
    }

    fn read(&mut self, index: &str) -> String {
        let address = self.compute(&format!("getelementptr i32, ptr %from, i64 {index}"));
        self.compute(&format!("load i32, ptr {address}"))
    }

    fn add_up(&mut self, index: &str) {
        let element = self.read(index);
        let before = self.compute("load i32, ptr %sum");
        let sum = self.compute(&format!("add i32 {element}, {before}"));
        self.line(&format!("store i32 {sum}, ptr %sum"));
    }

    /// An element whose index is any.
    fn any(&mut self) -> Result<()> {
        let index = self.index()?;
        let len = if self.is(10)? { self.pick(&["16", "64", "2048"])? } else { self.pick(&LENGTHS)? };
        self.is_inside(&index, len)?;
        if self.is(60)? {
            self.add_up(&index);
            return Ok(());
        }
        let element = self.read(&index);
        let (value, variable) = (self.compute(&format!("and i32 {element}, 7")), self.variable()?);
        self.line(&format!("store i32 {value}, ptr {variable}"));
        Ok(())
    }

    fn near(&mut self) -> Result<String> {
        let value = self.load()?;
        if self.is(35)? { self.moved(&value, &["1", "-1", "2", "-2", "3"]) } else { Ok(value) }
    }

    fn row_and_column(&mut self, ty: &str, row: &str, extent: &str, column: &str) -> String {
        let begin = self.compute(&format!("mul {ty} {row}, {extent}"));
        self.compute(&format!("add {ty} {begin}, {column}"))
    }

    /// What a division by a number that is not 0 leaves, in one of the ways to write that.
    fn remainder(&mut self, by: &str) -> Result<String> {
        let value = self.load()?;
        if self.u.arbitrary()? {
            return Ok(self.compute(&format!("urem i32 {value}, {by}")));
        }
        let quotient = self.compute(&format!("udiv i32 {value}, {by}"));
        let sides = if self.u.arbitrary()? { [&quotient, by] } else { [by, &quotient] };
        let product = self.compute(&format!("mul i32 {}, {}", sides[0], sides[1]));
        Ok(self.compute(&format!("sub i32 {value}, {product}")))
    }

    /// An extent that is not 0.
    fn odd(&mut self, extent: &str) -> String {
        self.compute(&format!("or i32 {extent}, 1"))
    }

    fn index(&mut self) -> Result<String> {
        Ok(match self.u.int_in_range(0..=10)? {
            0..=4 => {
                let (column, row, width) = (self.near()?, self.near()?, self.extent()?);
                let index = self.row_and_column("i32", &row, width, &column);
                self.computed_wide(&index)?
            }
            5 => {
                let (column, row, plane) = (self.near()?, self.near()?, self.load()?);
                let (width, height) = (self.extent()?, self.extent()?);
                let line = self.row_and_column("i32", &plane, height, &row);
                let index = self.row_and_column("i32", &line, width, &column);
                self.compute(&format!("zext i32 {index} to i64"))
            }
            6 | 7 => {
                let numbers = [self.load()?, self.load()?, self.extent()?.into()];
                let [column, row, width] = numbers.map(|number| self.compute(&format!("zext i32 {number} to i64")));
                self.row_and_column("i64", &row, &width, &column)
            }
            8 => {
                let (thread, times) = (self.pick(&["%tid", "%x", "%x"])?, self.pick(&["1", "2", "33"])?);
                let more = self.u.int_in_range(0..=5)?.to_string();
                let index = self.row_and_column("i32", thread, times, &more);
                self.compute(&format!("zext i32 {index} to i64"))
            }
            9 => {
                let extent = self.extent()?;
                let width = self.odd(extent);
                let column = self.remainder(&width)?;
                let row = if self.is(60)? { self.pick(&["1", "2", "8", "-1"])?.into() } else { self.near()? };
                let index = self.row_and_column("i32", &row, &width, &column);
                self.computed_wide(&index)?
            }
            _ => {
                let value = self.load()?;
                let (wide, more) = (self.computed_wide(&value)?, self.pick(&["0", "1", "2", "-1", "5"])?);
                self.compute(&format!("add i64 {wide}, {more}"))
            }
        })
    }

    /// Where a part of a slice begins, and the least it has behind that.
    fn part(&mut self) -> Result<()> {
        let value = self.load()?;
        let begin = self.compute(&format!("zext i32 {value} to i64"));
        let is_late = self.compute(&format!("icmp ugt i64 {begin}, %L"));
        let (panic, early) = (self.panic(&begin)?, self.label());
        self.line(&format!("br i1 {is_late}, label %{panic}, label %{early}"));
        self.begin(&early);
        let left = self.compute(&format!("sub i64 %L, {begin}"));
        let least = self.u.int_in_range(0..=4)?;
        let is_enough = self.compute(&format!("icmp ugt i64 {left}, {least}"));
        let (panic, inside) = (self.panic(&left)?, self.label());
        self.line(&format!("br i1 {is_enough}, label %{inside}, label %{panic}"));
        self.begin(&inside);
        let (element, variable) = (self.read(&begin), self.variable()?);
        self.line(&format!("store i32 {element}, ptr {variable}"));
        Ok(())
    }

    /// Elements that lie so many numbers apart, one after the other; some numbers are too large for that.
    fn columns(&mut self) -> Result<()> {
        let (column, apart) = (self.load()?, self.load()?);
        let column = self.computed_wide(&column)?;
        let apart = match self.u.int_in_range(0..=4)? {
            0 => self.pick(&["%W.64", "%L", "%Q"])?.into(),
            1 | 2 => {
                let (len, by) = (self.pick(&LENGTHS)?, self.pick(&["1", "2", "5"])?);
                let exact = if self.is(10)? { "exact" } else { "" };
                self.compute(&format!("lshr {exact} i64 {len}, {by}"))
            }
            _ => self.computed_wide(&apart)?,
        };
        let mut flag = || self.pick(&["", "", "nuw", "nuw nsw"]);
        let flags = [flag()?, flag()?];
        for _ in 0..self.u.int_in_range(2..=5)? {
            let (times, more) = (self.pick(&["0", "1", "2", "3", "4", "31"])?, self.pick(&["0", "0", "0", "1", "-1"])?);
            let distance = self.compute(&format!("mul {} i64 {apart}, {times}", flags[0]));
            let begin = self.compute(&format!("add {} i64 {distance}, {column}", flags[1]));
            let index = self.compute(&format!("add i64 {begin}, {more}"));
            let len = self.pick(&["%L", "%L", "%M", "%P"])?;
            self.is_inside(&index, len)?;
            self.add_up(&index);
        }
        Ok(())
    }

    /// Neighbours that are clamped, one after the other.
    fn neighbours(&mut self) -> Result<()> {
        let (x, y) = (self.load()?, self.load()?);
        let (width, height) = (self.extent()?, self.extent()?);
        let len = self.pick(&["%L", "%M", "%P"])?;
        let last = [width, height].map(|extent| self.compute(&format!("add i32 {extent}, -1")));
        for _ in 0..self.u.int_in_range(3..=4)? {
            let [column, row] = [(&x, &last[0]), (&y, &last[1])].map(|(value, last)| {
                let near = self.moved(value, &["1", "-1", "2", "-2", "0"])?;
                if self.is(20)? { Ok(self.one_less(&near)) } else { self.clamped(&near, last) }
            });
            let index = self.row_and_column("i32", &row?, width, &column?);
            let index = self.computed_wide(&index)?;
            self.is_inside(&index, len)?;
            self.add_up(&index);
        }
        Ok(())
    }

    fn one_less(&mut self, value: &str) -> String {
        self.compute(&format!("call i32 @llvm.usub.sat.i32(i32 {value}, i32 1)"))
    }

    /// A number that is kept between 0 and the last one, in one of the ways to write that, or nearly so.
    fn clamped(&mut self, value: &str, last: &str) -> Result<String> {
        let form = self.u.int_in_range(0..=3)?;
        let mut limited =
            |function, value: &str, by| self.compute(&format!("call i32 @llvm.{function}.i32(i32 {value}, i32 {by})"));
        Ok(match form {
            0 => {
                let positive = limited("smax", value, "0");
                limited("smin", &positive, last)
            }
            1 => {
                let small = limited("smin", value, last);
                limited("smax", &small, "0")
            }
            2 => limited("umin", value, last),
            _ => {
                let small = limited("umin", value, last);
                let is_negative = self.compute(&format!("icmp slt i32 {value}, 0"));
                self.compute(&format!("select i1 {is_negative}, i32 0, i32 {small}"))
            }
        })
    }

    /// Whether a coordinate is outside of an extent; at times not quite that.
    fn outside(&mut self, ty: &str, value: &str, extent: &str) -> Result<String> {
        let (one, other) = match if ty == "i64" { 0 } else { self.u.int_in_range(0..=8)? } {
            0 => return Ok(self.compute(&format!("icmp uge {ty} {value}, {extent}"))),
            1 => (format!("slt i32 {value}, 0"), format!("sge i32 {value}, {extent}")),
            2 => {
                let near = self.moved(value, &STEPS)?;
                (format!("slt i32 {value}, 0"), format!("sge i32 {near}, {extent}"))
            }
            3 => {
                let near = self.moved(value, &["1", "2", "-1"])?;
                (format!("slt i32 {near}, 0"), format!("sge i32 {value}, {extent}"))
            }
            4 => {
                let least = self.pick(&["0", "1", "2"])?;
                (format!("ule i32 {value}, {least}"), format!("ugt i32 {value}, {extent}"))
            }
            5 => {
                let last = self.moved(extent, &["-1", "-2", "1"])?;
                (format!("uge i32 {value}, {last}"), format!("eq i32 {value}, 0"))
            }
            6 => {
                let (last, is) = (self.moved(extent, &["-1", "-2"])?, self.pick(&["sge", "sgt"])?);
                (format!("{is} i32 {value}, {last}"), format!("sle i32 {value}, 0"))
            }
            7 => {
                let next = self.moved(value, &["1", "2", "3"])?;
                (format!("ugt i32 {next}, {extent}"), format!("slt i32 {value}, 1"))
            }
            _ => {
                let next = self.moved(value, &["1", "2", "3"])?;
                (format!("uge i32 {next}, {extent}"), format!("slt i32 {value}, 0"))
            }
        };
        let [one, other] = [one, other].map(|compared| self.compute(&format!("icmp {compared}")));
        let either = if self.u.arbitrary()? {
            format!("or i1 {one}, {other}")
        } else {
            format!("select i1 {one}, i1 true, i1 {other}")
        };
        Ok(self.compute(&either))
    }

    /// An element of a plane or a volume, behind branches that ask for its coordinates.
    fn guarded(&mut self) -> Result<()> {
        let is_wide = self.is(25)?;
        let ty = if is_wide { "i64" } else { "i32" };
        let dimensions = if !is_wide && self.is(25)? { 3 } else { 2 };
        let mut extents = Vec::new();
        for _ in 0..dimensions {
            extents.push(self.extent()?.to_string());
        }
        if is_wide {
            extents = ["%W.64", "%H.64"].map(String::from).to_vec();
            if self.is(20)? {
                extents.reverse();
            }
            if self.is(30)? {
                extents[1] = "%Q".into();
            }
        }
        let is_left = !is_wide && self.is(20)?;
        if is_left {
            extents[0] = self.odd(&extents[0]);
        }
        let mut at = Vec::new();
        for _ in 0..dimensions {
            let value = self.load()?;
            let value = if self.is(25)? { self.moved(&value, &STEPS)? } else { value };
            at.push(if is_wide { self.compute(&format!("zext i32 {value} to i64")) } else { value });
        }
        if is_left {
            at[0] = self.remainder(&extents[0])?;
        }
        let end = self.label();
        for (place, (coordinate, extent)) in at.iter_mut().zip(&extents).enumerate() {
            if self.is(if is_left && place == 0 { 10 } else { 92 })? {
                if !is_wide && self.is(20)? {
                    let last = self.compute(&format!("add i32 {extent}, -1"));
                    *coordinate = self.clamped(coordinate, &last)?;
                    continue;
                }
                let (is_outside, inside) = (self.outside(ty, coordinate, extent)?, self.label());
                self.line(&format!("br i1 {is_outside}, label %{end}, label %{inside}"));
                self.begin(&inside);
            }
            if !is_wide && self.is(45)? {
                *coordinate = if self.is(20)? {
                    self.one_less(coordinate)
                } else {
                    self.moved(coordinate, &["1", "-1", "-1", "2", "-2", "3"])?
                };
            }
        }
        let mut index = at[dimensions - 1].clone();
        for (coordinate, extent) in at.iter().zip(&extents).rev().skip(1) {
            index = self.row_and_column(ty, &index, extent, coordinate);
        }
        let index = if is_wide { index } else { self.computed_wide(&index)? };
        let len = self.pick(if is_wide { &["%P", "%L"] } else { &["%L", "%L", "%M", "%P"] })?;
        self.is_inside(&index, len)?;
        self.add_up(&index);
        self.line(&format!("br label %{end}"));
        self.begin(&end);
        Ok(())
    }
}
