//! Invalid bytes: an error or another row, never a panic, and never a cell outside of the fragment.

use crate::rows::{dense, rows, sparse, sparse_cells};
use bennu_fragment::{CellChange, Fragment, Layout, is_dense_of, matches, merge};
use proptest::prelude::*;
use store::{Bytes, Filter, FixedPredicate, NullTest};

/// Reads a fragment in every way.
fn read_all(bytes: &[u8], layout: &Layout) {
    let parsed = Fragment::parse(bytes);
    if let Ok(fragment) = parsed {
        let view = fragment.dense(layout);
        if let Ok(view) = view {
            assert!(is_dense_of(bytes, layout), "the full check is stricter than the cheap one");
            assert_eq!(view.cells().count(), layout.columns().len());
        }
        if let Ok(view) = fragment.sparse() {
            assert_eq!(view.cells().count(), view.len());
            (0..100).for_each(|qualifier| _ = view.cell(qualifier));
        }
        let _ = fragment.cells(layout);
    }
    for i in 0..layout.columns().len() {
        if let Some(column) = layout.fixed_column(i) {
            let found = (column.read(bytes), column.bytes(bytes), column.array::<8>(bytes));
            assert!(found.1.is_some() || !is_dense_of(bytes, layout));
        }
        if let Some(column) = layout.variable_column(i) {
            let _ = (column.read(bytes), column.bytes(bytes), column.is_null(bytes));
        }
    }
    let change = CellChange { qualifier: 1, value: Some(b"new") };
    let _ = merge(bytes, layout, layout, &[change], &mut Vec::new());
    let predicate = FixedPredicate {
        offset: 25,
        width: 4,
        null_bit: (20, 1),
        lo: Bytes::from_static(&[0; 4]),
        hi: Bytes::from_static(&[9; 4]),
    };
    let nulls = vec![NullTest { null_bit: (21, 2), is_null: true }];
    let _ = matches(&Filter { layout: layout.id(), predicates: vec![predicate], nulls }, bytes);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_dense_row_cut_anywhere_is_an_error((layout, cells) in rows()) {
        let bytes = dense(&layout, &cells);
        for cut in 0..bytes.len() {
            let cut = &bytes[..cut];
            prop_assert!(Fragment::parse(cut).and_then(|fragment| fragment.dense(&layout).map(|_| ())).is_err());
            read_all(cut, &layout);
        }
    }

    #[test]
    fn a_sparse_row_cut_anywhere_is_an_error((layout, _) in rows(), cells in sparse_cells()) {
        let bytes = sparse(layout.id(), &cells);
        for cut in 0..bytes.len() {
            let cut = &bytes[..cut];
            prop_assert!(Fragment::parse(cut).and_then(|fragment| fragment.sparse().map(|_| ())).is_err());
            read_all(cut, &layout);
        }
    }

    #[test]
    fn a_row_with_more_behind_it_is_an_error((layout, cells) in rows(), more in 1..9usize) {
        let mut bytes = dense(&layout, &cells);
        bytes.resize(bytes.len() + more, 0);
        prop_assert!(Fragment::parse(&bytes).unwrap().dense(&layout).is_err());
        read_all(&bytes, &layout);
    }

    #[test]
    fn changed_bytes_never_panic((layout, cells) in rows(), spots in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..4)) {
        let mut bytes = dense(&layout, &cells);
        for (at, byte) in spots {
            let at = at % bytes.len();
            bytes[at] = byte;
            read_all(&bytes, &layout);
        }
    }

    #[test]
    fn changed_sparse_bytes_never_panic((layout, _) in rows(), cells in sparse_cells(), spots in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..4)) {
        let mut bytes = sparse(layout.id(), &cells);
        for (at, byte) in spots {
            let at = at % bytes.len();
            bytes[at] = byte;
            read_all(&bytes, &layout);
        }
    }

    #[test]
    fn random_bytes_never_panic((layout, _) in rows(), mut bytes in proptest::collection::vec(any::<u8>(), 0..200), flags in 0..4u8) {
        read_all(&bytes, &layout);
        let [high, low] = layout.id().to_be_bytes();
        for (byte, value) in bytes.iter_mut().zip([1, flags, high, low]) {
            *byte = value;
        }
        read_all(&bytes, &layout);
    }
}
