//! Ranges case by case: minimal, and exact where expected.

use rowkey::range::{Access, Condition, KeyRanges, RangeLimits, describe, key_ranges};
use rowkey::{KeyPart, KeySchema};
use types::{CompareOp, DataType, Datum, Decimal};

/// carrier, flight, departed DESC: the key of the flights table.
fn flights(salt_buckets: Option<u16>) -> KeySchema {
    KeySchema {
        parts: vec![
            KeyPart::ascending(DataType::Varchar(None)),
            KeyPart::ascending(DataType::Integer),
            KeyPart::descending(DataType::Timestamp(None)),
        ],
        salt_buckets,
        salted_by_row: false,
    }
}

fn integers(parts: usize) -> KeySchema {
    KeySchema::new(vec![KeyPart::ascending(DataType::Integer); parts])
}

fn text(value: &str) -> Datum {
    Datum::Text(value.to_owned())
}

fn compare(part: usize, op: CompareOp, value: Datum) -> Condition {
    Condition::Compare { part, op, value }
}

fn equal(part: usize, value: Datum) -> Condition {
    compare(part, CompareOp::Eq, value)
}

fn within(part: usize, values: impl IntoIterator<Item = i32>) -> Condition {
    Condition::In { part, values: values.into_iter().map(Datum::Int4).collect() }
}

fn shown(schema: &KeySchema, conditions: &[Condition]) -> (String, KeyRanges) {
    let ranges = key_ranges(schema, conditions, &RangeLimits::default());
    let text: Vec<String> = ranges.ranges.iter().map(|range| describe(schema, range)).collect();
    (text.join(" "), ranges)
}

#[test]
fn a_prefix_of_the_key_is_one_range() {
    let (text, ranges) = shown(&flights(None), &[equal(1, Datum::Int4(1545)), equal(0, text("UA"))]);
    assert_eq!(text, "['UA',1545,*]");
    assert_eq!((ranges.access, ranges.parts_used, ranges.equal_parts), (Access::Range, 2, 2));
    assert_eq!(ranges.exact, [true, true]);
}

#[test]
fn a_full_key_is_a_point_in_its_own_bucket() {
    let schema = flights(Some(8));
    let row = [text("UA"), Datum::Int4(1545), Datum::Timestamp(0)];
    let conditions: Vec<_> = row.iter().cloned().enumerate().map(|(part, value)| equal(part, value)).collect();
    let ranges = key_ranges(&schema, &conditions, &RangeLimits::default());
    let mut key = Vec::new();
    schema.encode(&row, &mut key).unwrap();
    assert_eq!(ranges.access, Access::Points(1));
    assert_eq!(ranges.ranges[0].as_point(), Some(key.as_slice()));
    assert_eq!(ranges.buckets, Some(vec![key[0]]));
}

#[test]
fn a_prefix_of_a_salted_key_is_a_range_in_every_bucket() {
    let (text, ranges) = shown(&flights(Some(3)), &[equal(0, text("UA"))]);
    assert_eq!(text, "0:['UA',*] 1:['UA',*] 2:['UA',*]");
    assert_eq!((ranges.access, ranges.buckets), (Access::Range, Some(vec![0, 1, 2])));
}

#[test]
fn full_keys_of_a_salted_table_go_to_their_buckets() {
    let schema = KeySchema { salt_buckets: Some(16), ..integers(1) };
    let ranges = key_ranges(&schema, &[within(0, [7, 3, 7, 9])], &RangeLimits::default());
    assert_eq!(ranges.access, Access::Points(3));
    for value in [3, 7, 9] {
        let mut key = Vec::new();
        schema.encode(&[Datum::Int4(value)], &mut key).unwrap();
        assert!(ranges.ranges.iter().any(|range| range.as_point() == Some(&key)));
    }
    assert!(ranges.ranges.is_sorted());
}

#[test]
fn lists_multiply_and_an_interval_ends_the_key() {
    let interval = [compare(1, CompareOp::Ge, Datum::Int4(5)), compare(1, CompareOp::Lt, Datum::Int4(8))];
    let conditions = [within(0, [1, 2]), interval[0].clone(), interval[1].clone(), equal(2, Datum::Int4(3))];
    let (text, ranges) = shown(&integers(3), &conditions);
    assert_eq!(text, "[1,5 .. 1,8) [2,5 .. 2,8)");
    assert_eq!(ranges.exact, [true, true, true, false]);
    assert_eq!((ranges.access, ranges.parts_used, ranges.equal_parts), (Access::SkipScan, 2, 0));
}

#[test]
fn a_list_cut_by_an_interval_still_leads_to_the_next_part() {
    let conditions = [compare(0, CompareOp::Gt, Datum::Int4(0)), within(0, [-1, 1, 3]), equal(1, Datum::Int4(5))];
    let (text, ranges) = shown(&integers(2), &conditions);
    assert_eq!((text.as_str(), ranges.exact), ("[1,5] [3,5]", vec![true; 3]));
}

#[test]
fn a_part_that_is_skipped_leaves_the_later_ones_to_the_scan() {
    let (text, ranges) = shown(&integers(3), &[equal(0, Datum::Int4(1)), equal(2, Datum::Int4(3))]);
    assert_eq!(text, "[1,*]");
    assert_eq!((ranges.exact, ranges.parts_used), (vec![true, false], 1));
    let (text, ranges) = shown(&integers(3), &[equal(1, Datum::Int4(1))]);
    assert_eq!((text.as_str(), ranges.access, ranges.parts_used), ("[*]", Access::Full, 0));
}

#[test]
fn neighbours_become_one_range() {
    assert_eq!(shown(&integers(2), &[within(0, [3, 1, 2])]).0, "[1 .. 4)");
    let halves =
        Condition::Or(vec![compare(0, CompareOp::Lt, Datum::Int4(256)), compare(0, CompareOp::Ge, Datum::Int4(256))]);
    assert_eq!(shown(&integers(1), &[halves]).1.access, Access::Full);
    let around_256 = shown(&integers(2), &[within(0, [255, 256, 511, 512])]).0;
    assert_eq!(around_256, "[255 .. 257) [511 .. 513)");
}

#[test]
fn row_comparisons_are_one_range() {
    let after = |op| Condition::RowCompare { parts: vec![0, 1], op, values: vec![Datum::Int4(1), Datum::Int4(5)] };
    assert_eq!(shown(&integers(3), &[after(CompareOp::Gt)]).0, "[1,6 .. *]");
    assert_eq!(shown(&integers(3), &[after(CompareOp::Ge)]).0, "[1,5 .. *]");
    assert_eq!(shown(&integers(3), &[after(CompareOp::Lt)]).0, "[* .. 1,5)");
    let (text, ranges) = shown(&integers(3), &[after(CompareOp::Le), after(CompareOp::Ge)]);
    assert_eq!((text.as_str(), ranges.exact), ("[1,5,*]", vec![true, true]));
}

#[test]
fn the_page_behind_a_row_of_mixed_directions_is_two_ranges() {
    let schema = KeySchema::new(vec![KeyPart::ascending(DataType::Integer), KeyPart::descending(DataType::Integer)]);
    let after =
        Condition::RowCompare { parts: vec![0, 1], op: CompareOp::Gt, values: vec![Datum::Int4(1), Datum::Int4(5)] };
    let (text, ranges) = shown(&schema, &[after]);
    assert_eq!((text.as_str(), ranges.exact), ("[1 .. 1,5) [2 .. *]", vec![true]));
}

#[test]
fn rows_in_a_list_are_points_or_prefixes() {
    let rows = |rows: &[[i32; 2]]| Condition::RowIn {
        parts: vec![0, 1],
        rows: rows.iter().map(|row| row.map(Datum::Int4).to_vec()).collect(),
    };
    let (text, ranges) = shown(&integers(2), &[rows(&[[3, 4], [1, 2], [3, 4]])]);
    assert_eq!((text.as_str(), ranges.access, ranges.exact), ("[1,2] [3,4]", Access::Points(2), vec![true]));
    assert_eq!(shown(&integers(3), &[rows(&[[3, 4], [1, 2]])]).0, "[1,2,*] [3,4,*]");
    let (text, ranges) = shown(&integers(2), &[rows(&[[3, 4], [1, 2]]), equal(0, Datum::Int4(3))]);
    assert_eq!((text.as_str(), ranges.exact), ("[3,4]", vec![true, true]));
}

#[test]
fn like_prefixes_are_ranges_of_text() {
    let like = |part, prefix: &str| Condition::Prefix { part, prefix: prefix.to_owned() };
    let (text, ranges) = shown(&flights(None), &[like(0, "U")]);
    assert_eq!((text.as_str(), ranges.exact, ranges.access), ("['U'…]", vec![true], Access::Range));
    let descending = KeySchema::new(vec![KeyPart::descending(DataType::Text)]);
    assert_eq!(shown(&descending, &[like(0, "U")]).0, "['U'…]");
    let padded = KeySchema::new(vec![KeyPart::ascending(DataType::Char(5))]);
    assert_eq!(shown(&padded, &[like(0, "U ")]).1.exact, [false]);
}

#[test]
fn nulls_are_where_the_part_puts_them() {
    for nulls_first in [true, false] {
        let part = KeyPart { nullable: true, nulls_first, ..KeyPart::ascending(DataType::Integer) };
        let schema = KeySchema::new(vec![part]);
        let is_null = |negated| Condition::IsNull { part: 0, negated };
        let (text, ranges) = shown(&schema, &[is_null(false)]);
        assert_eq!((text.as_str(), ranges.exact), ("[NULL]", vec![true]));
        let both = Condition::Or(vec![is_null(false), is_null(true)]);
        assert_eq!(shown(&schema, &[both]).1.ranges.len(), 1);
        let comparison = shown(&schema, &[compare(0, CompareOp::Ne, Datum::Int4(0))]).1;
        let mut key = Vec::new();
        schema.encode(&[Datum::Null], &mut key).unwrap();
        assert!(!comparison.contains(&key) && comparison.exact == [true]);
    }
}

#[test]
fn intervals_of_a_nullable_part_leave_its_nulls_out() {
    let cases = [
        (false, "[NOT NULL]", "[NOT NULL .. 5)", "[256 .. NULL)"),
        (true, "[NOT NULL]", "[NOT NULL .. 5)", "[256 .. *)"),
    ];
    for (nulls_first, not_null, less, greater) in cases {
        let part = KeyPart { nullable: true, nulls_first, ..KeyPart::ascending(DataType::Integer) };
        let schema = KeySchema::new(vec![part]);
        let is_not_null = Condition::IsNull { part: 0, negated: true };
        assert_eq!(shown(&schema, &[is_not_null]).0, not_null);
        assert_eq!(shown(&schema, &[compare(0, CompareOp::Lt, Datum::Int4(5))]).0, less);
        assert_eq!(shown(&schema, &[compare(0, CompareOp::Gt, Datum::Int4(255))]).0, greater);
    }
}

#[test]
fn comparisons_with_null_select_nothing() {
    for op in [CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::Ge] {
        let ranges = shown(&integers(1), &[compare(0, op, Datum::Null)]).1;
        assert_eq!((ranges.access, ranges.exact), (Access::Empty, vec![true]));
    }
    let list = Condition::In { part: 0, values: vec![Datum::Int4(1), Datum::Null] };
    assert_eq!(shown(&integers(1), &[list]).0, "[1]");
}

#[test]
fn contradictions_are_empty() {
    let ranges = shown(&integers(2), &[equal(0, Datum::Int4(1)), equal(0, Datum::Int4(2))]).1;
    assert_eq!((ranges.access, ranges.ranges.len()), (Access::Empty, 0));
    assert_eq!(shown(&integers(1), &[compare(0, CompareOp::Gt, Datum::Int4(i32::MAX))]).1.access, Access::Empty);
    assert_eq!(shown(&integers(1), &[Condition::False]).1.access, Access::Empty);
}

#[test]
fn or_over_different_parts_is_a_union() {
    let any = |second| Condition::Or(vec![equal(0, Datum::Int4(1)), second]);
    let both = Condition::And(vec![equal(0, Datum::Int4(5)), equal(1, Datum::Int4(6))]);
    let (text, ranges) = shown(&integers(2), &[any(both)]);
    assert_eq!((text.as_str(), ranges.exact), ("[1,*] [5,6]", vec![true]));
    let (text, ranges) = shown(&integers(2), &[any(equal(1, Datum::Int4(1)))]);
    assert_eq!((text.as_str(), ranges.exact), ("[*]", vec![false]));
}

#[test]
fn values_between_those_of_the_type_still_bound_it() {
    let half = Datum::Numeric(Decimal { unscaled: 25, scale: 1 });
    let (text, ranges) = shown(&integers(1), &[compare(0, CompareOp::Lt, half.clone())]);
    assert_eq!((text.as_str(), ranges.exact), ("[* .. 3)", vec![true]));
    assert_eq!(shown(&integers(1), &[equal(0, half)]).1.access, Access::Empty);
    let huge = Datum::Int8(3_000_000_000);
    assert_eq!(shown(&integers(1), &[compare(0, CompareOp::Lt, huge.clone())]).1.access, Access::Full);
    assert_eq!(shown(&integers(1), &[compare(0, CompareOp::Gt, huge)]).1.access, Access::Empty);
    let date = KeySchema::new(vec![KeyPart::ascending(DataType::Date)]);
    let noon = Datum::Timestamp(types::temporal::DAY / 2);
    assert_eq!(shown(&date, &[compare(0, CompareOp::Ge, noon)]).0, "['1970-01-02' .. *]");
}

#[test]
fn values_of_another_kind_say_nothing() {
    let (text, ranges) = shown(&integers(1), &[equal(0, text("1"))]);
    assert_eq!((text.as_str(), ranges.exact), ("[*]", vec![false]));
    let (_, ranges) = shown(&integers(1), &[equal(7, Datum::Int4(1))]);
    assert_eq!((ranges.access, ranges.exact), (Access::Full, vec![false]));
}

#[test]
fn too_many_ranges_give_up_the_last_parts_first() {
    let limits = RangeLimits::of(100);
    let conditions = [within(0, (0..20).map(|n| n * 2)), within(1, (0..20).map(|n| n * 2))];
    let ranges = key_ranges(&integers(2), &conditions, &limits);
    assert_eq!((ranges.ranges.len(), ranges.exact), (20, vec![true, false]));
    let ranges = key_ranges(&integers(1), &[within(0, (0..1000).map(|n| n * 2))], &limits);
    assert_eq!((ranges.ranges.len(), ranges.exact), (100, vec![false]));
    let salted = KeySchema { salt_buckets: Some(10), ..integers(2) };
    let ranges = key_ranges(&salted, &conditions, &limits);
    assert!(ranges.ranges.len() <= 100 && ranges.exact == [false, false], "{}", ranges.ranges.len());
}

#[test]
fn widened_points_that_touch_become_one_range() {
    let ranges = key_ranges(&integers(1), &[within(0, [1, 2, 3])], &RangeLimits::of(2));
    assert_eq!((ranges.ranges.len(), ranges.access, ranges.exact), (1, Access::Range, vec![false]));
}

#[test]
fn a_long_row_list_falls_back_to_its_first_part() {
    let rows = (0..400).map(|n| vec![Datum::Int4(n % 4 * 10), Datum::Int4(n * 7)]).collect();
    let condition = Condition::RowIn { parts: vec![0, 1], rows };
    let ranges = key_ranges(&integers(2), &[condition], &RangeLimits::of(50));
    assert_eq!((ranges.ranges.len(), ranges.exact), (4, vec![false]));
}

#[test]
fn lists_that_do_not_multiply_may_be_longer() {
    let limits = RangeLimits { max_ranges: 10, max_listed: 1000 };
    let list = |count: i32| within(0, (0..count).map(|n| n * 2));
    assert_eq!(key_ranges(&integers(1), &[list(1000)], &limits).access, Access::Points(1000));
    let widened = key_ranges(&integers(1), &[list(1001)], &limits);
    assert_eq!((widened.ranges.len(), widened.exact), (10, vec![false]));
    let rows = (0..500).map(|n| vec![Datum::Int4(n % 5 * 2), Datum::Int4(n * 7)]).collect();
    let rows = [Condition::RowIn { parts: vec![0, 1], rows }];
    let prefixes = key_ranges(&integers(3), &rows, &limits);
    assert_eq!((prefixes.ranges.len(), prefixes.exact), (500, vec![true]));
    let both = key_ranges(&integers(2), &[list(500), within(1, [1, 3])], &limits);
    assert_eq!((both.ranges.len(), both.exact), (500, vec![true, false]));
    let salted = KeySchema { salt_buckets: Some(4), ..integers(3) };
    assert_eq!(key_ranges(&salted, &rows, &RangeLimits { max_listed: 2000, ..limits }).ranges.len(), 2000);
    assert!(key_ranges(&salted, &rows, &limits).ranges.len() <= 20);
}

/// `part NOT IN (values)`.
fn none_of(part: usize, values: impl IntoIterator<Item = i32>) -> Condition {
    let unequal = |value| compare(part, CompareOp::Ne, Datum::Int4(value));
    Condition::And(values.into_iter().map(unequal).collect())
}

#[test]
fn excluded_values_leave_the_gaps_between_them() {
    let (text, ranges) = shown(&integers(1), &[none_of(0, [7, 3, 4, 7])]);
    assert_eq!((text.as_str(), ranges.exact), ("[* .. 3) [5 .. 7) [8 .. *]", vec![true]));
    assert_eq!(shown(&integers(1), &[none_of(0, [9, i32::MAX])]).0, "[* .. 9) [10 .. 2147483647)");
    let down = KeySchema::new(vec![KeyPart { nullable: true, ..KeyPart::descending(DataType::Integer) }]);
    assert_eq!(shown(&down, &[none_of(0, [7, 3])]).0, "[NOT NULL .. 7) [6 .. 3) [2 .. *)");
    let with_null = Condition::And(vec![none_of(0, [7]), compare(0, CompareOp::Ne, Datum::Null)]);
    assert_eq!(shown(&integers(1), &[with_null]).1.access, Access::Empty);
}

#[test]
fn gaps_of_single_rows_are_read_at_once_where_there_are_many() {
    let (text, ranges) = shown(&integers(1), &[none_of(0, (0..1000).map(|n| n * 2))]);
    assert_eq!((text.as_str(), ranges.exact), ("[*]", vec![false]));
    let above = [none_of(0, (0..1000).map(|n| n * 2)), compare(0, CompareOp::Gt, Datum::Int4(100))];
    assert_eq!(shown(&integers(1), &above).0, "[101 .. *]");
    // A value of a leading part may have any number of rows.
    let leading = shown(&integers(2), &[none_of(0, (0..1000).map(|n| n * 2))]).1;
    assert_eq!((leading.ranges.len(), leading.exact), (1001, vec![true]));
    let salted = KeySchema { salt_buckets: Some(100), ..integers(2) };
    let salted = shown(&salted, &[none_of(0, (0..1000).map(|n| n * 2))]).1;
    assert_eq!((salted.access, salted.exact), (Access::Full, vec![false]));
}

/// As many conditions as a client can write. An algorithm with quadratic time would take minutes.
#[test]
fn very_many_conditions_take_few_steps_each() {
    const MANY: i32 = 20_000;
    let down = KeySchema::new(vec![KeyPart { nullable: true, ..KeyPart::descending(DataType::Integer) }; 2]);
    for schema in [integers(1), integers(2), down] {
        let ranges = key_ranges(&schema, &[none_of(0, (0..MANY).map(|n| n * 2))], &RangeLimits::default());
        assert_eq!((ranges.ranges.len(), ranges.exact), (1, vec![false]));
        let one_by_one: Vec<_> = (0..MANY).map(|n| compare(0, CompareOp::Ne, Datum::Int4(n * 2))).collect();
        let ranges = key_ranges(&schema, &one_by_one, &RangeLimits::default());
        assert_eq!((ranges.ranges.len(), ranges.exact.contains(&false)), (20_001, false));
        let between =
            |n| vec![compare(0, CompareOp::Ge, Datum::Int4(n * 4)), compare(0, CompareOp::Le, Datum::Int4(n * 4 + 1))];
        let any = [Condition::Or((0..MANY).map(|n| Condition::And(between(n))).collect())];
        assert_eq!(key_ranges(&schema, &any, &RangeLimits::default()).ranges.len(), 20_000);
        let outside =
            |n| vec![compare(0, CompareOp::Lt, Datum::Int4(n * 4)), compare(0, CompareOp::Gt, Datum::Int4(n * 4 + 1))];
        let all = [Condition::And((0..MANY).map(|n| Condition::Or(outside(n))).collect())];
        assert_eq!(key_ranges(&schema, &all, &RangeLimits::default()).ranges.len(), 20_001);
        let row = |n: i32| [n, -n].into_iter().take(schema.parts.len()).map(Datum::Int4).collect();
        let rows = Condition::RowIn { parts: (0..schema.parts.len()).collect(), rows: (0..MANY).map(row).collect() };
        assert_eq!(key_ranges(&schema, &[rows], &RangeLimits::default()).access, Access::Points(20_000));
    }
}
