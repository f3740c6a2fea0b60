//! The examples of `docs/formats/fragment.md`, byte by byte.

use bennu_fragment::{CellChange, Fragment, Layout, LayoutColumn, encode_dense, merge, stamp};
use store::{CommitNo, Timestamp};

const PAGE: &str = include_str!("../../../../docs/formats/fragment.md");

/// The bytes of the block that begins with "```text `name`": two hexadecimal digits each, then a comment.
fn example(name: &str) -> Vec<u8> {
    let block = PAGE.split(&format!("```text {name}\n")).nth(1).expect("the block").split("```").next().unwrap();
    let bytes_of = |line: &str| -> Vec<u8> {
        let (bytes, _comment) = line.split_at(26);
        bytes.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
    };
    block.lines().flat_map(bytes_of).collect()
}

fn layout() -> Layout {
    let columns = [Some(4), None, Some(2), None];
    let columns = columns.into_iter().zip(0..).map(|(width, qualifier)| LayoutColumn { qualifier, width });
    Layout::new(258, columns.collect())
}

fn dense() -> Vec<u8> {
    let mut bytes = Vec::new();
    let cells = [Some([0x80, 0, 0, 1].as_slice()), Some(b"to"), None, Some(b"sea")];
    encode_dense(&layout(), &cells, &mut bytes).unwrap();
    stamp(&mut bytes, Timestamp(1000), CommitNo(7)).unwrap();
    bytes
}

#[test]
fn the_dense_example_is_what_is_written() {
    assert_eq!(dense(), example("dense"));
    let bytes = example("dense");
    let fragment = Fragment::parse(&bytes).unwrap();
    assert_eq!((fragment.timestamp(), fragment.commit(), fragment.layout_id()), (Timestamp(1000), CommitNo(7), 258));
    let layout = layout();
    let view = fragment.dense(&layout).unwrap();
    let cells: Vec<_> = view.cells().collect();
    assert_eq!(cells, [Some([0x80, 0, 0, 1].as_slice()), Some(b"to"), None, Some(b"sea")]);
}

#[test]
fn the_sparse_example_is_what_a_merge_makes_of_it() {
    let changes = [CellChange { qualifier: 300, value: Some(b"!") }, CellChange { qualifier: 0, value: None }];
    let mut bytes = Vec::new();
    merge(&dense(), &layout(), &layout(), &changes, &mut bytes).unwrap();
    stamp(&mut bytes, Timestamp(1000), CommitNo(7)).unwrap();
    assert_eq!(bytes, example("sparse"));
}
