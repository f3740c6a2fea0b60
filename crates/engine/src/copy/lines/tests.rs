//! Tests of the line reader: each case is read as a whole, cut in two at every byte, and byte by byte.

use super::*;
use sql::{CopyFormat, CopyOptions};

fn format(csv: bool, change: impl FnOnce(&mut CopyOptions)) -> Format {
    let mut options =
        CopyOptions { format: if csv { CopyFormat::Csv } else { CopyFormat::Text }, ..CopyOptions::default() };
    change(&mut options);
    Format::new(&options, &["a".to_string(), "b".to_string(), "c".to_string()]).unwrap()
}

/// Rows as text, with NULL as `~`; a row of `!` is an open quote at the end of the data.
fn rows_of_pieces(format: &Format, pieces: &[&[u8]]) -> Vec<String> {
    let (mut fields, mut buffer, mut rows) = (Fields::default(), Vec::new(), Vec::new());
    let mut drain = |buffer: &mut Vec<u8>, last: bool| {
        let mut at = 0;
        loop {
            match fields.read(format, buffer, at, last) {
                Line::Whole { next, .. } => {
                    let text = |field: &Field| match fields.bytes(buffer, field) {
                        None => "~".to_string(),
                        Some(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
                    };
                    rows.push(fields.list.iter().map(text).collect::<Vec<_>>().join("|"));
                    at = next;
                }
                Line::End => {
                    rows.push("END".to_string());
                    buffer.clear();
                    return;
                }
                Line::Bad(message) => {
                    rows.push(format!("! {message}"));
                    buffer.clear();
                    return;
                }
                Line::ZeroByte => {
                    rows.push("! zero byte".to_string());
                    buffer.clear();
                    return;
                }
                Line::OpenQuote => {
                    rows.push("!".to_string());
                    buffer.clear();
                    return;
                }
                Line::Partial => break,
            }
        }
        buffer.drain(..at.min(buffer.len()));
    };
    for piece in pieces {
        buffer.extend_from_slice(piece);
        drain(&mut buffer, false);
    }
    drain(&mut buffer, true);
    // COPY does not read data after the end marker.
    if let Some(end) = rows.iter().position(|row| row == "END") {
        rows.truncate(end + 1);
    }
    rows
}

fn check(format: &Format, data: &str, expected: &[&str]) {
    assert_eq!(rows_of_pieces(format, &[data.as_bytes()]), expected, "{data:?}");
    for cut in 0..data.len() {
        let (head, tail) = data.as_bytes().split_at(cut);
        assert_eq!(rows_of_pieces(format, &[head, tail]), expected, "{data:?} cut at {cut}");
    }
    let bytes: Vec<&[u8]> = data.as_bytes().chunks(1).collect();
    assert_eq!(rows_of_pieces(format, &bytes), expected, "{data:?} byte by byte");
}

#[test]
fn text_lines_have_escapes_and_null() {
    let f = format(false, |_| {});
    check(&f, "1\tx\t\\N\n2\t\\\\N\ty\n", &["1|x|~", "2|\\N|y"]);
    check(&f, "a\\tb\\nc\t\\x41\\102\\q\t\n", &["a\tb\nc|ABq|"]);
    check(&f, "a\\\tb\tc\\\nd\te\n", &["a\tb|c\nd|e"]);
    check(&f, "1\t2\r\n3\t4\r\n", &["1|2", "3|4"]);
    check(&f, "a\\\r\nb\\\r\r\nc\n", &["a\r", "b\r", "c"]);
    check(&f, "1\ta\\", &["1|a\\"]);
    check(&f, "1\t2", &["1|2"]);
    check(&f, "1\n\\.\nrest\n", &["1", "END"]);
}

#[test]
fn csv_lines_have_quotes() {
    let f = format(true, |_| {});
    check(&f, "1,\"a,b\",\n2,\"say \"\"hi\"\"\",\"\"\n", &["1|a,b|~", "2|say \"hi\"|"]);
    check(&f, "1,\"two\nlines\",x\r\n2,,y\r\n", &["1|two\nlines|x", "2|~|y"]);
    check(&f, "a\"b\"c,d\n", &["abc|d"]);
    check(&f, "1,\"open\n", &["!"]);
    check(&f, "\"x\"", &["x"]);
}

#[test]
fn a_carriage_return_alone_ends_no_line_and_is_no_data() {
    let (text, csv) = (format(false, |_| {}), format(true, |_| {}));
    let bad = "! literal carriage return found in data";
    check(&text, "1\t2\n2\r\tx\n", &["1|2", bad]);
    check(&text, "1\\\\\t2\r\t\n", &[bad]);
    check(&text, "1\\r\t2\r\n", &["1\r|2"]);
    let bad = "! unquoted carriage return found in data";
    check(&csv, "1,2\n2\r,x\n", &["1|2", bad]);
    check(&csv, "\"1\r\",2\n\"a\",\r3\n", &["1\r|2", bad]);
    check(&csv, "\"1\",2\r", &["1|2"]);
}

#[test]
fn the_end_marker_stands_alone() {
    let text = format(false, |_| {});
    check(&text, "1\t2\n\\.x\n", &["1|2", "! end-of-copy marker corrupt"]);
    check(&text, "1\t\\.2\n", &["! end-of-copy marker corrupt"]);
    check(&text, "1\t\\\\.2\n", &["1|\\.2"]);
    check(&format(true, |_| {}), "\\.x\n", &["\\.x"]);
}

#[test]
fn csv_options_change_quote_escape_and_null() {
    let f = format(true, |o| {
        o.delimiter = Some(b';');
        o.quote = Some(b'\'');
        o.escape = Some(b'\\');
        o.null = Some("nil".to_string());
    });
    check(&f, "'a\\'b';nil;'nil'\n;x\\y;'\\\\'\n", &["a'b|~|nil", "|x\\y|\\"]);
    let f = format(true, |o| {
        o.force_not_null = sql::CopyColumns::Named(vec!["a".to_string()]);
        o.force_null = sql::CopyColumns::Named(vec!["b".to_string()]);
    });
    check(&f, ",\"\",\"\"\n", &["|~|"]);
    check(&f, ",,\n", &["|~|~"]);
}

#[test]
fn ambiguous_options_are_refused() {
    let refused = |csv, change: fn(&mut CopyOptions)| {
        let mut options =
            CopyOptions { format: if csv { CopyFormat::Csv } else { CopyFormat::Text }, ..CopyOptions::default() };
        change(&mut options);
        Format::new(&options, &[]).unwrap_err().code()
    };
    assert_eq!(refused(true, |o| o.delimiter = Some(b'"')), "22023");
    assert_eq!(refused(false, |o| o.delimiter = Some(b'x')), "22023");
    assert_eq!(refused(true, |o| o.null = Some(",".to_string())), "0A000");
    assert_eq!(refused(true, |o| o.force_null = sql::CopyColumns::Named(vec!["z".to_string()])), "42P10");
}
