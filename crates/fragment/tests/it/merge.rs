//! Merges against a map of cells.

use crate::rows::{Cells, cells_of, dense, sparse, sparse_cells};
use bennu_fragment::{CellChange, Fragment, FragmentError, Layout, LayoutColumn, merge};
use proptest::prelude::*;
use std::collections::BTreeMap;

type Map = BTreeMap<u16, Vec<u8>>;
type Changes = Vec<(u16, Option<Vec<u8>>)>;

/// Columns 0..40 have a width that depends on their number, so that layouts agree on a column.
fn column(qualifier: u16) -> LayoutColumn {
    LayoutColumn { qualifier, width: [Some(4), None, Some(1)][usize::from(qualifier % 3)] }
}

fn layout(id: u16) -> impl Strategy<Value = Layout> {
    let columns = proptest::collection::btree_set(0..40u16, 0..12)
        .prop_map(|set| set.into_iter().map(column).collect::<Vec<_>>());
    columns.prop_shuffle().prop_map(move |columns| Layout::new(id, columns))
}

/// Values that fit their columns; qualifiers from 40 on are in no layout.
fn changes() -> impl Strategy<Value = Changes> {
    let change = (0..44u16).prop_flat_map(|qualifier| {
        let bytes = match column(qualifier).width {
            Some(width) if qualifier < 40 => proptest::collection::vec(any::<u8>(), usize::from(width)).boxed(),
            _ => proptest::collection::vec(any::<u8>(), 0..20).boxed(),
        };
        (Just(qualifier), proptest::option::of(bytes))
    });
    proptest::collection::vec(change, 0..10)
}

/// The documented behaviour of `merge`, on maps.
fn oracle(mut cells: Map, written: &Layout, current: &Layout, changes: &Changes) -> Map {
    let has = |layout: &Layout, qualifier: u16| layout.columns().iter().any(|column| column.qualifier == qualifier);
    cells.retain(|&qualifier, _| !has(written, qualifier) || has(current, qualifier));
    for (qualifier, value) in changes {
        match value {
            Some(value) => cells.insert(*qualifier, value.clone()),
            None => cells.remove(qualifier),
        };
    }
    cells
}

fn merged(old: &[u8], written: &Layout, current: &Layout, changes: &Changes) -> Result<Vec<u8>, FragmentError> {
    let changes: Vec<_> = changes
        .iter()
        .map(|(qualifier, value)| CellChange { qualifier: *qualifier, value: value.as_deref() })
        .collect();
    let mut out = Vec::new();
    merge(old, written, current, &changes, &mut out).map(|()| out)
}

fn map_of(fragment: &[u8], layout: &Layout) -> Map {
    let cells = Fragment::parse(fragment).unwrap().cells(layout).unwrap();
    cells.into_iter().map(|(qualifier, value)| (qualifier, value.to_vec())).collect()
}

fn map_of_row(layout: &Layout, cells: &Cells) -> Map {
    layout.columns().iter().zip(cells).filter_map(|(column, cell)| Some((column.qualifier, cell.clone()?))).collect()
}

/// Checks that the result equals the oracle's, and that it is dense exactly if the layout has all its cells.
fn must_agree(old: &[u8], cells: Map, written: &Layout, current: &Layout, changes: &Changes) {
    let expected = oracle(cells, written, current, changes);
    let bytes = merged(old, written, current, changes).unwrap();
    assert_eq!(map_of(&bytes, current), expected);
    let fragment = Fragment::parse(&bytes).unwrap();
    assert_eq!(fragment.is_dense(), expected.keys().all(|&qualifier| current.position(qualifier).is_some()));
    assert_eq!((fragment.layout_id(), fragment.timestamp().0, fragment.commit().0), (current.id(), 0, 0));
}

proptest! {
    #[test]
    fn changes_of_a_dense_row_are_those_of_a_map(
        (written, cells) in layout(1).prop_flat_map(|layout| { let cells = cells_of(&layout); (Just(layout), cells) }),
        current in layout(2),
        changes in changes(),
    ) {
        let old = dense(&written, &cells);
        must_agree(&old, map_of_row(&written, &cells), &written, &current, &changes);
        must_agree(&old, map_of_row(&written, &cells), &written, &written, &changes);
    }

    #[test]
    fn changes_of_a_sparse_row_are_those_of_a_map(
        written in layout(1), current in layout(2), cells in sparse_cells(), changes in changes(),
    ) {
        let mut cells = cells;
        // Cells of columns must have the columns' widths, as in the changes.
        cells.retain(|&qualifier, _| qualifier >= 40);
        for (qualifier, value) in &changes {
            if let Some(value) = value.clone().filter(|_| qualifier % 2 == 0) {
                cells.insert(*qualifier, value);
            }
        }
        let old = sparse(written.id(), &cells);
        must_agree(&old, cells, &written, &current, &changes);
    }
}

#[test]
fn a_value_that_does_not_fit_its_column_is_refused() {
    let layout = Layout::new(1, vec![column(0), column(1)]);
    let old = dense(&layout, &vec![None, Some(b"text".to_vec())]);
    let refused = merged(&old, &layout, &layout, &vec![(0, Some(vec![1, 2]))]);
    assert_eq!(refused, Err(FragmentError::CellWidth { qualifier: 0, expected: 4, found: 2 }));
}

#[test]
fn a_row_is_merged_only_with_the_layout_that_it_names() {
    let (written, other) = (Layout::new(1, vec![column(0)]), Layout::new(2, vec![column(0)]));
    let old = dense(&written, &vec![None]);
    let refused = merged(&old, &other, &other, &Vec::new());
    assert_eq!(refused, Err(FragmentError::WrongLayout { found: 1, expected: 2 }));
    let refused = merged(&sparse(1, &Map::new()), &other, &other, &Vec::new());
    assert_eq!(refused, Err(FragmentError::WrongLayout { found: 1, expected: 2 }));
}
