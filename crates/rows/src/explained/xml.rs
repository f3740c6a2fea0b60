//! EXPLAIN (FORMAT XML), laid out as PostgreSQL does.

use super::ExplainedPlan;
use super::document::Value;

impl ExplainedPlan {
    /// The text of FORMAT XML.
    pub fn xml(&self) -> String {
        let mut out = "<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n".to_owned();
        print(&self.document(), 1, &mut out);
        out.push_str("</explain>");
        out
    }
}

/// Prints the content of an element.
fn print(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Text(text) => escape(text, out),
        Value::Number(number) => out.push_str(number),
        Value::True => out.push_str("true"),
        Value::Group(parts) => parts.iter().for_each(|(name, part)| element(name, part, depth, out)),
        Value::List(name, items) => items.iter().for_each(|item| element(name, item, depth, out)),
    }
}

fn element(name: &str, value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let tag: String = name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    let nested = matches!(value, Value::Group(_) | Value::List(..));
    out.push_str(&format!("{indent}<{tag}>{}", if nested { "\n" } else { "" }));
    print(value, depth + 1, out);
    out.push_str(&format!("{}</{tag}>\n", if nested { indent.as_str() } else { "" }));
}

fn escape(text: &str, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\r' => out.push_str("&#x0d;"),
            letter => out.push(letter),
        }
    }
}
