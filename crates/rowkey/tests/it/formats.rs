//! `docs/formats/rowkey.md` matches the codec: every example is encoded and compared.

use rowkey::{KeyPart, KeySchema, cell_value};
use types::{DataType, Datum, text};

const PAGE: &str = include_str!("../../../../docs/formats/rowkey.md");

/// `integer desc nulls first`: NULLS makes the part nullable.
fn part(words: &str) -> KeyPart {
    let nulls = words.contains(" nulls ");
    let descending = words.contains(" desc");
    let name = words.split(" desc").next().unwrap().split(" nulls").next().unwrap();
    let (base, parameters) = name.split_once('(').unwrap_or((name, ""));
    let parameters: Vec<i64> =
        parameters.trim_end_matches(')').split(',').filter(|p| !p.is_empty()).map(|p| p.parse().unwrap()).collect();
    let ty = DataType::from_name(base, &parameters).unwrap();
    KeyPart { ty, descending, nullable: nulls, nulls_first: words.ends_with("nulls first") }
}

fn value(part: &KeyPart, words: &str) -> Datum {
    if words == "NULL" { Datum::Null } else { text::parse(&part.ty, words).unwrap() }
}

fn hex(key: &[u8]) -> String {
    key.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(" ")
}

/// Rows of the tables with the first heading `heading`.
fn rows(heading: &str) -> Vec<Vec<&'static str>> {
    let cells = |line: &'static str| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>();
    let mut found = Vec::new();
    let mut inside = false;
    for line in PAGE.lines() {
        match line.starts_with('|') {
            false => inside = false,
            true if cells(line)[0] == heading => inside = true,
            true if inside && !line.starts_with("|--") => found.push(cells(line)),
            true => {}
        }
    }
    found
}

#[test]
fn the_examples_of_parts_are_what_the_codec_writes() {
    let examples = rows("part");
    assert!(examples.len() > 30, "the page lost its examples");
    for row in examples {
        let part = part(row[0]);
        let mut key = Vec::new();
        KeySchema::new(vec![part]).encode(&[value(&part, row[1])], &mut key).unwrap();
        assert_eq!(hex(&key), row[2], "{row:?}");
    }
}

#[test]
fn the_examples_of_cells_are_what_the_codec_writes() {
    let examples = rows("column");
    assert!(examples.len() > 6, "the page lost its examples");
    for row in examples {
        let (base, parameters) = row[0].split_once('(').unwrap_or((row[0], ")"));
        let (parameters, tail) = parameters.split_once(')').unwrap();
        let parameters: Vec<i64> =
            parameters.split(',').filter(|p| !p.is_empty()).map(|p| p.parse().unwrap()).collect();
        let ty = DataType::of_column_name(&format!("{base}{tail}"), &parameters).unwrap();
        let mut cell = Vec::new();
        cell_value::encode(&ty, &text::parse(&ty, row[1]).unwrap(), &mut cell).unwrap();
        assert_eq!(hex(&cell), row[2], "{row:?}");
        assert_eq!(cell_value::decode(&ty, &cell).unwrap(), text::parse(&ty, row[1]).unwrap());
    }
}

#[test]
fn the_examples_of_salted_keys_are_what_the_codec_writes() {
    let examples = rows("key");
    assert!(examples.len() > 1, "the page lost its examples");
    for row in examples {
        let parts: Vec<KeyPart> = row[0].split(", ").map(part).collect();
        let values: Vec<Datum> = parts.iter().zip(row[1].split(", ")).map(|(part, words)| value(part, words)).collect();
        let schema = KeySchema { parts, salt_buckets: Some(row[2].parse().unwrap()), salted_by_row: false };
        let mut key = Vec::new();
        schema.encode(&values, &mut key).unwrap();
        assert_eq!(hex(&key), row[3], "{row:?}");
    }
}
