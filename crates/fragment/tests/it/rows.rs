//! Strategies for random layouts and rows, and round-trip tests.

use bennu_fragment::{Fragment, Layout, LayoutColumn, encode_dense, encode_sparse, is_dense_of};
use proptest::prelude::*;
use std::collections::BTreeMap;

pub(crate) type Cells = Vec<Option<Vec<u8>>>;

/// A layout of up to 20 columns, qualifiers in no order.
pub(crate) fn layouts() -> impl Strategy<Value = Layout> {
    let width =
        prop_oneof![Just(None), prop_oneof![Just(1u16), Just(2), Just(4), Just(8), Just(16), 0..40u16].prop_map(Some)];
    let columns = proptest::collection::btree_map(0..60u16, width, 0..20);
    let shuffled = columns.prop_map(|columns| columns.into_iter().collect::<Vec<_>>()).prop_shuffle();
    (any::<u16>(), shuffled).prop_map(|(id, columns)| {
        let columns = columns.into_iter().map(|(qualifier, width)| LayoutColumn { qualifier, width });
        Layout::new(id, columns.collect())
    })
}

/// Cells that fit `layout`.
pub(crate) fn cells_of(layout: &Layout) -> impl Strategy<Value = Cells> + use<> {
    let cell = |column: &LayoutColumn| {
        let bytes = match column.width.map(usize::from) {
            Some(width) => proptest::collection::vec(any::<u8>(), width).boxed(),
            None => proptest::collection::vec(any::<u8>(), 0..30).boxed(),
        };
        proptest::option::of(bytes)
    };
    layout.columns().iter().map(cell).collect::<Vec<_>>()
}

pub(crate) fn rows() -> impl Strategy<Value = (Layout, Cells)> {
    layouts().prop_flat_map(|layout| {
        let cells = cells_of(&layout);
        (Just(layout), cells)
    })
}

pub(crate) fn dense(layout: &Layout, cells: &Cells) -> Vec<u8> {
    let cells: Vec<_> = cells.iter().map(|cell| cell.as_deref()).collect();
    let mut bytes = Vec::new();
    encode_dense(layout, &cells, &mut bytes).unwrap();
    bytes
}

pub(crate) fn sparse(layout: u16, cells: &BTreeMap<u16, Vec<u8>>) -> Vec<u8> {
    let cells: Vec<_> = cells.iter().map(|(&qualifier, value)| (qualifier, value.as_slice())).collect();
    let mut bytes = Vec::new();
    encode_sparse(layout, &cells, &mut bytes).unwrap();
    bytes
}

/// Cells of a sparse fragment.
pub(crate) fn sparse_cells() -> impl Strategy<Value = BTreeMap<u16, Vec<u8>>> {
    proptest::collection::btree_map(0..80u16, proptest::collection::vec(any::<u8>(), 0..30), 0..20)
}

proptest! {
    #[test]
    fn dense_rows_are_read_back_cell_by_cell((layout, cells) in rows()) {
        let bytes = dense(&layout, &cells);
        let fragment = Fragment::parse(&bytes).unwrap();
        prop_assert!(fragment.is_dense() && is_dense_of(&bytes, &layout));
        prop_assert_eq!(fragment.layout_id(), layout.id());
        prop_assert!(bytes.len() >= layout.min_len());
        let view = fragment.dense(&layout).unwrap();
        let read: Cells = view.cells().map(|cell| cell.map(<[u8]>::to_vec)).collect();
        prop_assert_eq!(&read, &cells);
        prop_assert_eq!(view.cell(cells.len()), None);
    }

    #[test]
    fn columns_are_read_as_cells_are((layout, cells) in rows()) {
        let bytes = dense(&layout, &cells);
        for (i, cell) in cells.iter().enumerate() {
            let (byte, mask) = layout.null_bit(i);
            prop_assert_eq!(bytes[byte as usize] & mask != 0, cell.is_none());
            match (layout.fixed_column(i), layout.variable_column(i)) {
                (Some(column), None) => {
                    prop_assert_eq!(column.read(&bytes), cell.as_deref());
                    let at = layout.fixed_offset(i).unwrap() as usize;
                    let zeros = vec![0; column.width()];
                    prop_assert_eq!(&bytes[at..at + column.width()], cell.as_deref().unwrap_or(&zeros));
                    prop_assert_eq!(column.bytes(&bytes), Some(cell.as_deref().unwrap_or(&zeros)));
                }
                (None, Some(column)) => {
                    prop_assert_eq!(column.read(&bytes).unwrap(), cell.as_deref());
                    prop_assert_eq!(column.bytes(&bytes).unwrap(), cell.as_deref().unwrap_or_default());
                }
                both => prop_assert!(false, "column {} is {:?}", i, both),
            }
        }
    }

    #[test]
    fn sparse_rows_are_read_back_by_qualifier(layout in any::<u16>(), cells in sparse_cells()) {
        let bytes = sparse(layout, &cells);
        let fragment = Fragment::parse(&bytes).unwrap();
        prop_assert!(!fragment.is_dense());
        prop_assert_eq!(fragment.layout_id(), layout);
        let view = fragment.sparse().unwrap();
        prop_assert_eq!((view.len(), view.is_empty()), (cells.len(), cells.is_empty()));
        let read: BTreeMap<_, _> = view.cells().map(|(qualifier, value)| (qualifier, value.to_vec())).collect();
        prop_assert_eq!(&read, &cells);
        for qualifier in 0..=80 {
            prop_assert_eq!(view.cell(qualifier), cells.get(&qualifier).map(Vec::as_slice));
        }
    }

    #[test]
    fn encoding_appends_and_leaves_what_is_there((layout, cells) in rows(), before in any::<Vec<u8>>()) {
        let borrowed: Vec<_> = cells.iter().map(|cell| cell.as_deref()).collect();
        let mut out = before.clone();
        encode_dense(&layout, &borrowed, &mut out).unwrap();
        prop_assert_eq!(&out[..before.len()], &before);
        prop_assert_eq!(&out[before.len()..], dense(&layout, &cells));
    }
}
