//! Removes DataFusion's notation from names, which are also the names of computed columns.

/// Formats `count(Int64(1)) ORDER BY [t.a@4 ASC NULLS LAST]` as `count(*) ORDER BY [t.a]`.
pub(in super::super) fn readable(name: &str) -> String {
    let plain = without_constant_types(&without_numbers(name));
    plain.replace("count(1)", "count(*)").replace(" ASC NULLS LAST", "").replace(" DESC NULLS FIRST", " DESC")
}

/// Removes `@4` from `delay@4 > 5`, and the mark of names that SQL cannot write.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '@' && letters.peek().is_some_and(char::is_ascii_digit) {
            while letters.next_if(char::is_ascii_digit).is_some() {}
        } else if letter != '\u{1}' {
            out.push(letter);
        }
    }
    out
}

/// Types that precede constants.
const TYPES: [&str; 15] = [
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "Float32",
    "Float64",
    "Boolean",
    "Utf8",
    "Utf8View",
    "Decimal128",
    "Decimal256",
];

/// Formats `Int64(1)` as `1`, `Utf8("x")` as `'x'`, `Decimal128(0.5,1,1)` as `0.5`.
fn without_constant_types(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('(') {
        let (head, tail) = (rest.get(..open).unwrap_or_default(), rest.get(open + 1..).unwrap_or_default());
        let word = head.rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
        let (before, ty) = (head.get(..word).unwrap_or_default(), head.get(word..).unwrap_or_default());
        match constant(ty, tail) {
            Some((value, behind)) => {
                out += before;
                out += &value;
                rest = behind;
            }
            None => {
                out += head;
                out.push('(');
                rest = tail;
            }
        }
    }
    out + rest
}

/// Returns the constant after its type's parenthesis, and the rest of the text.
fn constant<'a>(ty: &str, text: &'a str) -> Option<(String, &'a str)> {
    if !TYPES.contains(&ty) {
        return None;
    }
    if let Some(inside) = text.strip_prefix('"') {
        let (value, behind) = inside.split_once("\")")?;
        return Some((format!("'{}'", value.replace('\'', "''")), behind));
    }
    let (inside, behind) = text.split_once(')')?;
    let value = inside.split_once(',').map_or(inside, |(value, _)| value);
    Some((value.to_owned(), behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_columns_go_and_others_stay() {
        assert_eq!(readable("delay@4 > 5 AND mail = a@b"), "delay > 5 AND mail = a@b");
    }

    #[test]
    fn constants_lose_their_types() {
        assert_eq!(readable("count(Int64(1)) FILTER (WHERE t.kind = Utf8(\"it's\"))"), {
            "count(*) FILTER (WHERE t.kind = 'it''s')"
        });
        assert_eq!(
            readable("f(Decimal128(0.5,1,1), Boolean(NULL)) ORDER BY [a ASC NULLS LAST]"),
            "f(0.5, NULL) ORDER BY [a]"
        );
    }
}
