//! The example runs as its README describes.
#![allow(clippy::unwrap_used, missing_docs)]

use std::process::Command;

#[test]
fn it_ends_by_itself_with_its_answers() {
    let output = Command::new(env!("CARGO_BIN_EXE_bennu-example-embed")).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let expected = "20000 rows appended\ncellar: 52.7 °F\nroof: 102.2 °F\nmean of 10000 on the roof: 19.50 °C\n\
                    250 readings were too hot\n";
    assert_eq!((told.as_str(), output.status.success()), (expected, true));
}
