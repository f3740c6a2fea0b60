//! Types and functions that a message names, in SQL's names.

/// The SQL name of the Arrow type that a message names.
pub(super) fn arrow_name_in(message: &str) -> Option<&'static str> {
    let names = [
        ("Int16", "smallint"),
        ("Int32", "integer"),
        ("Int64", "bigint"),
        ("Float32", "real"),
        ("Float64", "double precision"),
        ("Decimal", "numeric"),
        ("Date32", "date"),
        ("Time64", "time without time zone"),
        ("Timestamp", "timestamp without time zone"),
        ("Boolean", "boolean"),
        ("boolean", "boolean"),
    ];
    names.iter().find(|(arrow, _)| message.contains(arrow)).map(|(_, sql)| *sql)
}

/// A function with the SQL names of its arguments, where a message has it with Arrow's, or already as we say it.
pub(super) fn signature_in(message: &str) -> Option<String> {
    if let Some((before, _)) = message.split_once(" does not exist")
        && let Some((_, ours)) = before.rsplit_once("function ")
        && ours.ends_with([')', '"'])
    {
        return Some(ours.to_owned());
    }
    let (_, rest) = message.split_once("given name and argument types '")?;
    let (name, types) = rest.split_once("'.")?.0.strip_suffix(')')?.split_once('(')?;
    let names: Vec<String> = split_types(types).into_iter().map(sql_name_of).collect();
    Some(format!("{name}({})", names.join(", ")))
}

/// Cuts at commas outside of parentheses.
fn split_types(types: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let cut = |letter: char| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth == 0
    };
    types.split(cut).map(str::trim).filter(|ty| !ty.is_empty()).collect()
}

fn sql_name_of(ty: &str) -> String {
    if let Some(item) = ty.strip_prefix("List(").and_then(|rest| rest.strip_suffix(')')) {
        return format!("{}[]", sql_name_of(item));
    }
    let names = [
        ("Null", "unknown"),
        ("Utf8", "text"),
        ("LargeUtf8", "text"),
        ("Binary", "bytea"),
        ("FixedSizeBinary", "uuid"),
        ("UInt", "bigint"),
        ("Interval", "interval"),
        ("Struct", "record"),
    ];
    let zoned = ty.starts_with("Timestamp") && ty.contains('"');
    let known = names.iter().find(|(arrow, _)| ty.starts_with(arrow)).map(|(_, sql)| *sql);
    let name = if zoned { Some("timestamp with time zone") } else { known.or_else(|| arrow_name_in(ty)) };
    name.unwrap_or("record").to_owned()
}

/// The function that a message about arguments is about.
pub(super) fn function_in(line: &str) -> String {
    let after = ["function call '", "Function '", "function '"].iter().find_map(|words| line.split_once(words));
    match after {
        Some((_, rest)) => rest.split('\'').next().unwrap_or_default().to_owned(),
        None => line.to_owned(),
    }
}
