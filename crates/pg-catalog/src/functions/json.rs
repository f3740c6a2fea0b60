//! The one function of JSON that reflection of definitions needs; there is no type for it, so its value is text.

use super::{ANY, Arguments, Function, Returns, strict};
use crate::rows::Cell;
use datafusion::common::{Result, plan_err};
use std::fmt::Write as _;

/// As many arguments as SQLAlchemy gives, and some.
pub(super) static JSON_BUILD_OBJECT: Function =
    strict("json_build_object", &[ANY; 24], Returns::Text, |_, args| object(args)).optional(24).taking_null();

fn object(args: &Arguments<'_>) -> Result<Cell> {
    if args.count() % 2 == 1 {
        return plan_err!("argument list must have even number of elements");
    }
    let mut out = String::from("{");
    for at in (0..args.count()).step_by(2) {
        if at > 0 {
            out.push_str(", ");
        }
        match args.cell(at) {
            Cell::Null => return plan_err!("argument {}: key must not be null", at + 1),
            Cell::Text(key) => quoted(key, &mut out),
            key => quoted(&plain(key), &mut out),
        }
        out.push_str(" : ");
        match args.cell(at + 1) {
            Cell::Text(value) => quoted(value, &mut out),
            value => out.push_str(&plain(value)),
        }
    }
    out.push('}');
    Ok(out.into())
}

fn plain(cell: &Cell) -> String {
    match cell {
        Cell::Bool(value) => value.to_string(),
        Cell::Int(value) => value.to_string(),
        Cell::Float(value) => value.to_string(),
        _ => "null".to_owned(),
    }
}

fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Writing to a String cannot fail.
            control if control < ' ' => drop(write!(out, "\\u{:04x}", u32::from(control))),
            _ => out.push(letter),
        }
    }
    out.push('"');
}
