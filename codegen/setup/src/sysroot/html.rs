//! Rust source from the pages that rustdoc makes of it.

/// The source on a page of rustdoc's source view; `None` if there is none.
///
/// Code stands in `<code>`, with spans and links for colour, an anchor with its number before every line, and `<`, `>`,
/// `&` and quotes as entities. Line numbers stay right, so messages and panics name the true lines.
pub fn source(page: &str) -> Option<String> {
    let (_, code) = page.split_once("<code>")?;
    let (mut code, _) = code.split_once("</code></pre>")?;
    let mut source = String::with_capacity(code.len());
    while let Some(at) = code.find(['<', '&']) {
        source.push_str(&code[..at]);
        code = &code[at..];
        if code.starts_with('&') {
            let end = code.find(';')?;
            source.push(entity(&code[1..end])?);
            code = &code[end + 1..];
        } else {
            let end = code.find('>')?;
            let tag = &code[..end];
            code = &code[end + 1..];
            // Where the number of a line stands in the text.
            if tag.starts_with("<a ") && tag.ends_with(" data-nosnippet") {
                code = code.split_once("</a>")?.1;
            }
        }
    }
    source.push_str(code);
    Some(source)
}

/// The character of an entity's name: those that rustdoc writes, and numeric ones.
fn entity(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some('\u{a0}'),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}

/// The Markdown files that source text may include as documentation: rust-docs does not carry them. Some names reach
/// `include_str!` through a macro, so every literal that looks like one counts.
pub fn markdown(source: &str) -> impl Iterator<Item = &str> {
    source
        .split('"')
        .filter(|text| text.ends_with(".md") && !text.starts_with('/') && !text.contains(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(code: &str) -> String {
        format!("<html><pre class=\"rust\"><code>{code}</code></pre></html>")
    }

    #[test]
    fn tags_vanish_and_entities_return() {
        let code = r#"<span class="kw">fn </span>f&lt;<span class="lifetime">&#39;a</span>&gt;() -&gt; &amp;<a class="x" href="y">str</a> { <span>&quot;&amp;lt;&#x27;&quot;</span> }"#;
        assert_eq!(source(&page(code)).unwrap(), "fn f<'a>() -> &str { \"&lt;'\" }");
    }

    #[test]
    fn line_numbers_vanish_and_lines_stay() {
        let code = "<a href=#1 id=1 data-nosnippet>1</a><span>//! a\n<a href=#2 id=2 data-nosnippet>2</a>\n\
                    <a href=#3 id=3 data-nosnippet>3</a></span>let x = 3;\n";
        assert_eq!(source(&page(code)).unwrap(), "//! a\n\nlet x = 3;\n");
    }

    #[test]
    fn what_looks_like_html_in_the_source_stays() {
        let code = r#"<a href=#1 id=1 data-nosnippet>1</a>// &lt;code&gt; &lt;a href=#1 data-nosnippet&gt;1&lt;/a&gt;"#;
        assert_eq!(source(&page(code)).unwrap(), "// <code> <a href=#1 data-nosnippet>1</a>");
    }

    #[test]
    fn damaged_pages_give_nothing() {
        assert_eq!(source("<html></html>"), None);
        assert_eq!(source("<code>cut off"), None);
        assert_eq!(source(&page("a &unknown; b")), None);
        assert_eq!(source(&page("a & b")), None);
    }

    #[test]
    fn included_pages_are_found() {
        let text = "#![doc = include_str!(\"../a/b.md\")]\nalias! { \"c.md\", x = \"y\" }\n\"/etc/d.md\" \"see e.md\"";
        assert_eq!(markdown(text).collect::<Vec<_>>(), ["../a/b.md", "c.md"]);
    }
}
