//! The limit of 2-byte end offsets, and refused input.

use bennu_fragment::header::WIDE;
use bennu_fragment::{Fragment, FragmentError, Layout, LayoutColumn, encode_dense, encode_sparse, is_dense_of};

fn texts(count: u16) -> Layout {
    Layout::new(1, (0..count).map(|qualifier| LayoutColumn { qualifier, width: None }).collect())
}

#[test]
fn offsets_are_wide_only_beyond_64_kib() {
    let layout = texts(2);
    for (first, second, wide) in
        [(0, 0, false), (65_535, 0, false), (65_534, 1, false), (65_535, 1, true), (1 << 20, 0, true)]
    {
        let (a, b) = (vec![b'a'; first], vec![b'b'; second]);
        let mut bytes = Vec::new();
        encode_dense(&layout, &[Some(&a), Some(&b)], &mut bytes).unwrap();
        assert_eq!(bytes[1] & WIDE != 0, wide, "{first} + {second}");
        assert!(is_dense_of(&bytes, &layout));
        let view = Fragment::parse(&bytes).unwrap().dense(&layout).unwrap();
        assert!(view.cell(0) == Some(&a) && view.cell(1) == Some(&b));
        let column = layout.variable_column(1).unwrap();
        assert!(column.read(&bytes).unwrap() == Some(&b));

        let mut bytes = Vec::new();
        encode_sparse(1, &[(3, &a), (9, &b)], &mut bytes).unwrap();
        assert_eq!(bytes[1] & WIDE != 0, wide);
        let view = Fragment::parse(&bytes).unwrap().sparse().unwrap();
        assert!(view.cell(3) == Some(&a) && view.cell(9) == Some(&b));
    }
}

#[test]
fn a_wide_row_cut_inside_its_offsets_is_not_dense_of_its_layout() {
    let layout = texts(3);
    let mut bytes = Vec::new();
    encode_dense(&layout, &[None, Some(&[7; 70_000]), None], &mut bytes).unwrap();
    assert!(is_dense_of(&bytes[..layout.fixed_len() + 12], &layout));
    assert!(!is_dense_of(&bytes[..layout.fixed_len() + 11], &layout));
}

#[test]
fn a_layout_of_no_columns_has_rows_too() {
    let layout = Layout::new(9, Vec::new());
    let mut bytes = Vec::new();
    encode_dense(&layout, &[], &mut bytes).unwrap();
    assert_eq!(bytes.len(), 20);
    assert_eq!(Fragment::parse(&bytes).unwrap().dense(&layout).unwrap().cells().count(), 0);
}

#[test]
fn cells_that_do_not_fit_the_layout_are_refused_and_write_nothing() {
    let layout = Layout::new(4, vec![LayoutColumn { qualifier: 6, width: Some(4) }]);
    let mut out = vec![1];
    let refused = encode_dense(&layout, &[Some(b"abc")], &mut out);
    assert_eq!(refused, Err(FragmentError::CellWidth { qualifier: 6, expected: 4, found: 3 }));
    let refused = encode_dense(&layout, &[None, None], &mut out);
    assert_eq!(refused, Err(FragmentError::CellCount { layout: 4, expected: 1, found: 2 }));
    for pair in [[(2, b"a"), (2, b"b")], [(3, b"a"), (2, b"b")]] {
        let pair = pair.map(|(qualifier, value)| (qualifier, value.as_slice()));
        let refused = encode_sparse(4, &pair, &mut out);
        assert_eq!(refused, Err(FragmentError::QualifierOrder { before: pair[0].0, found: 2 }));
    }
    assert_eq!(out, [1]);
}

#[test]
fn a_fragment_is_read_only_as_what_it_is() {
    let layout = texts(1);
    let mut dense = Vec::new();
    encode_dense(&layout, &[Some(b"x")], &mut dense).unwrap();
    let other = Layout::new(2, layout.columns().to_vec());
    let refused = Fragment::parse(&dense).unwrap().dense(&other).err();
    assert_eq!(refused, Some(FragmentError::WrongLayout { found: 1, expected: 2 }));
    assert!(!is_dense_of(&dense, &other));
    assert!(matches!(Fragment::parse(&dense).unwrap().sparse(), Err(FragmentError::WrongForm { found: "dense", .. })));
    let mut sparse = Vec::new();
    encode_sparse(1, &[(0, b"x")], &mut sparse).unwrap();
    assert!(matches!(
        Fragment::parse(&sparse).unwrap().dense(&layout),
        Err(FragmentError::WrongForm { found: "sparse", .. })
    ));
    assert!(!is_dense_of(&sparse, &layout));
}
