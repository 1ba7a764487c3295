//! The chart of the kernels' speed: a bar for each, as SVG.

use std::fmt::Write as _;

/// A kernel's bar.
pub struct Bar<'a> {
    /// What it is drawn below.
    pub field: &'a str,
    /// What stands beside it.
    pub name: &'a str,
    /// nvcc's time over Rust's.
    pub ratio: f64,
}

const WIDTH: f64 = 800.0;
/// Where bars begin and end.
const LEFT: f64 = 190.0;
const RIGHT: f64 = 740.0;
/// The largest ratio that has its full length; above, the number alone tells.
const MOST: f64 = 1.5;
const LINE: f64 = 18.0;
const TOP: f64 = 44.0;

/// Draws the bars in their order, with the field's name where it changes.
pub fn draw(title: &str, bars: &[Bar<'_>]) -> String {
    let mut rows = String::new();
    let mut y = TOP;
    let mut field = "";
    for bar in bars {
        if bar.field != field {
            field = bar.field;
            y += LINE;
            _ = writeln!(rows, r#"<text x="8" y="{:.0}" class="field">{}</text>"#, y + 13.0, escaped(field));
            y += LINE;
        }
        let (class, end) = (class(bar.ratio), x(bar.ratio));
        _ = writeln!(
            rows,
            r#"<text x="{:.0}" y="{:.0}" class="name">{}</text><rect x="{LEFT:.0}" y="{:.0}" width="{:.1}" height="12" class="{class}"/><text x="{:.1}" y="{:.0}">{:.2}</text>"#,
            LEFT - 8.0,
            y + 13.0,
            escaped(bar.name),
            y + 3.0,
            end - LEFT,
            end + 5.0,
            y + 13.0,
            bar.ratio,
        );
        y += LINE;
    }
    let height = y + 16.0;
    let mut text = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0} {height:.0}" font-family="sans-serif" font-size="12">
<style>.name{{text-anchor:end}}.field,.title{{font-weight:bold}}.equal{{fill:#2a7f62}}.slower{{fill:#d08a28}}.slow{{fill:#b4413c}}.mark{{stroke:#888;stroke-dasharray:3 3}}</style>
<rect width="{WIDTH:.0}" height="{height:.0}" fill="#fff"/>
<text x="8" y="18" class="title">{}</text>
"##,
        escaped(title)
    );
    for mark in [0.5, 1.0] {
        _ = writeln!(
            text,
            r#"<line x1="{0:.1}" y1="{TOP:.0}" x2="{0:.1}" y2="{1:.0}" class="mark"/><text x="{0:.1}" y="{2:.0}" text-anchor="middle">{mark:.1}</text>"#,
            x(mark),
            height - 8.0,
            TOP - 6.0,
        );
    }
    text + &rows + "</svg>\n"
}

fn x(ratio: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * ratio.clamp(0.0, MOST) / MOST
}

/// By the goals: at least 0.95, at least 0.90, below.
fn class(ratio: f64) -> &'static str {
    match ratio {
        0.95.. => "equal",
        0.90.. => "slower",
        _ => "slow",
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kernel_has_a_bar_and_each_field_a_name() {
        let bar = |field, name, ratio| Bar { field, name, ratio };
        let bars = [bar("a & b", "k", 1.0), bar("a & b", "l", 0.93), bar("c", "m", 0.2), bar("c", "n", 7.0)];
        let svg = draw("Speed", &bars);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert_eq!((svg.matches("a &amp; b</text>").count(), svg.matches("class=\"name\"").count()), (1, 4));
        for part in ["class=\"equal\"", "class=\"slower\"", "class=\"slow\"", ">0.93<", ">7.00<"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        // No bar leaves the picture.
        assert!(svg.contains(&format!("width=\"{:.1}\"", RIGHT - LEFT)), "{svg}");
    }
}
