//! EXPLAIN (FORMAT YAML), laid out as PostgreSQL does.

use super::ExplainedPlan;
use super::document::Value;
use super::json::quote;

impl ExplainedPlan {
    /// The text of FORMAT YAML.
    pub fn yaml(&self) -> String {
        let mut out = String::new();
        print(&self.document(), 0, &mut out);
        // Every line begins with a line break.
        out.split_off(out.len().min(1))
    }
}

fn print(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Text(text) => quote(text, out),
        Value::Number(number) => out.push_str(number),
        Value::True => out.push_str("true"),
        Value::Group(parts) => parts.iter().for_each(|part| {
            line(depth, "", out);
            named(part, depth, out);
        }),
        Value::List(_, items) => items.iter().for_each(|item| print_item(item, depth, out)),
    }
}

fn line(depth: usize, mark: &str, out: &mut String) {
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
    out.push_str(mark);
}

fn named((name, value): &(String, Value), depth: usize, out: &mut String) {
    // The name of an index may be part of it.
    match name.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-')) {
        true => out.push_str(name),
        false => quote(name, out),
    }
    out.push_str(": ");
    print(value, depth + 1, out);
}

/// Prints an item of a list. The first part of a group is beside the mark, the others are below it.
fn print_item(item: &Value, depth: usize, out: &mut String) {
    line(depth, "- ", out);
    let Value::Group(parts) = item else { return print(item, depth, out) };
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            line(depth + 1, "", out);
        }
        named(part, depth + 1, out);
    }
}
