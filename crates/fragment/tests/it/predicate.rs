//! Filters compared with predicates on decoded values.

use crate::rows::{Cells, dense, rows, sparse};
use bennu_fragment::{Layout, Verdict, matches};
use proptest::prelude::*;
use std::collections::BTreeMap;
use store::{Bytes, Filter, FixedPredicate, NullTest};

/// Range predicates (column, lower and upper byte) and NULL tests.
type Tests = (Vec<(usize, u8, u8)>, Vec<(usize, bool)>);

fn tests() -> impl Strategy<Value = Tests> {
    let ranges = proptest::collection::vec((0..20usize, any::<u8>(), any::<u8>()), 0..4);
    (ranges, proptest::collection::vec((0..20usize, any::<bool>()), 0..3))
}

/// A bound of a repeated byte, which is close to the values of narrow columns.
fn bound(byte: u8, width: usize) -> Bytes {
    vec![byte; width].into()
}

fn filter_of(layout: &Layout, (ranges, nulls): &Tests) -> Filter {
    let count = layout.columns().len();
    let predicate = |&(i, lo, hi): &(usize, u8, u8)| {
        let width = usize::from(layout.columns().get(i)?.width?);
        Some(FixedPredicate {
            offset: layout.fixed_offset(i)?,
            width: width as u8,
            null_bit: layout.null_bit(i),
            lo: bound(lo, width),
            hi: bound(hi, width),
        })
    };
    let nulls = nulls.iter().filter(|(i, _)| *i < count);
    let nulls = nulls.map(|&(i, is_null)| NullTest { null_bit: layout.null_bit(i), is_null }).collect();
    Filter { layout: layout.id(), predicates: ranges.iter().filter_map(predicate).collect(), nulls }
}

/// The same predicates on decoded cells.
fn passes(layout: &Layout, cells: &Cells, (ranges, nulls): &Tests) -> bool {
    let in_range = |&(i, lo, hi): &(usize, u8, u8)| match layout.columns().get(i).and_then(|column| column.width) {
        None => true,
        Some(width) => {
            let width = usize::from(width);
            cells[i]
                .as_ref()
                .is_some_and(|cell| bound(lo, width) <= cell.as_slice() && cell.as_slice() <= bound(hi, width))
        }
    };
    ranges.iter().all(in_range)
        && nulls.iter().filter(|(i, _)| *i < cells.len()).all(|&(i, null)| cells[i].is_none() == null)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn dense_rows_are_judged_by_their_values((layout, cells) in rows(), tests in tests()) {
        let filter = filter_of(&layout, &tests);
        let expected = if passes(&layout, &cells, &tests) { Verdict::Pass } else { Verdict::Fail };
        prop_assert_eq!(matches(&filter, &dense(&layout, &cells)), expected);
    }

    #[test]
    fn other_rows_are_left_undecided((layout, cells) in rows(), tests in tests()) {
        let filter = filter_of(&layout, &tests);
        let other = Layout::new(layout.id().wrapping_add(1), layout.columns().to_vec());
        prop_assert_eq!(matches(&filter, &dense(&other, &cells)), Verdict::Undecided);
        prop_assert_eq!(matches(&filter, &sparse(layout.id(), &BTreeMap::new())), Verdict::Undecided);
        prop_assert_eq!(matches(&filter, &[]), Verdict::Undecided);
    }

    #[test]
    fn a_cut_row_never_passes_on_what_is_gone((layout, cells) in rows(), tests in tests(), cut in any::<usize>()) {
        let filter = filter_of(&layout, &tests);
        let bytes = dense(&layout, &cells);
        let verdict = matches(&filter, &bytes[..cut % bytes.len()]);
        if !passes(&layout, &cells, &tests) {
            prop_assert_ne!(verdict, Verdict::Pass);
        }
    }
}
