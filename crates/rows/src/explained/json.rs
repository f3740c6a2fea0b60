//! EXPLAIN (FORMAT JSON), laid out as PostgreSQL does.

use super::ExplainedPlan;
use super::document::Value;

impl ExplainedPlan {
    /// The text of FORMAT JSON.
    pub fn json(&self) -> String {
        let mut out = String::new();
        print(&self.document(), 0, &mut out);
        out
    }
}

fn print(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Text(text) => quote(text, out),
        Value::Number(number) => out.push_str(number),
        Value::True => out.push_str("true"),
        Value::Group(parts) => {
            block(('{', '}'), depth, parts, out, |(name, part), out| {
                quote(name, out);
                out.push_str(": ");
                print(part, depth + 1, out);
            });
        }
        Value::List(_, items) => {
            block(('[', ']'), depth, items, out, |item, out| print(item, depth + 1, out));
        }
    }
}

/// Prints items in brackets, each on a line of its own.
fn block<T>(brackets: (char, char), depth: usize, items: &[T], out: &mut String, each: impl Fn(&T, &mut String)) {
    out.push(brackets.0);
    for (at, item) in items.iter().enumerate() {
        out.push_str(if at == 0 { "\n" } else { ",\n" });
        out.push_str(&"  ".repeat(depth + 1));
        each(item, out);
    }
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
    out.push(brackets.1);
}

/// Prints a string of JSON, which is one of YAML, too.
pub(super) fn quote(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            letter if letter < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => out.push(letter),
        }
    }
    out.push('"');
}
