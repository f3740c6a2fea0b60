//! Chooses the access path to the rows: by the rowkey, or by an index.
//!
//! A pure function of the store's and the statistics' estimates for each access path. Costs are in units of reading the
//! next row of a scan. The resulting order, all else being equal:
//!
//! ```text
//!   a key < a short range of keys < a unique index with a value for each part < a range of a covering index
//!         < a range of an index whose rows are fetched < the whole table
//! ```

use rowkey::range::Access;
use store::TableSize;

/// The setting `bennu.index_choice`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IndexChoice {
    /// The path of least cost.
    #[default]
    Auto,
    /// Never an index.
    Off,
    /// An index wherever one is applicable.
    Force,
    /// An intersection of two indexes wherever possible, elsewhere as `Force`: for tests.
    Intersect,
}

impl IndexChoice {
    /// The value of the setting `bennu.index_choice`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Off => "off",
            Self::Force => "force",
            Self::Intersect => "intersect",
        }
    }

    /// Parses the value of the setting `bennu.index_choice`.
    pub fn from_setting(value: &str) -> Option<Self> {
        match value {
            "auto" => Some(Self::Auto),
            "off" => Some(Self::Off),
            "force" => Some(Self::Force),
            "intersect" => Some(Self::Intersect),
            _ => None,
        }
    }

    /// Whether an index is chosen regardless of its cost.
    pub fn is_forced(self) -> bool {
        matches!(self, Self::Force | Self::Intersect)
    }
}

/// The data that an access path reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The table.
    Table,
    /// The entries of an index that has all columns of the query.
    Covering,
    /// The entries of an index, and the row of each.
    Fetching,
}

/// The part of the data that an access path reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// No keys: no row can satisfy the conditions.
    Nothing,
    /// A number of single keys.
    Points(u64),
    /// A number of key ranges.
    Ranges(u64),
    /// All keys.
    All,
}

impl Reach {
    /// The reach of a number of key ranges.
    pub fn of(access: Access, ranges: usize) -> Self {
        match access {
            Access::Empty => Self::Nothing,
            Access::Points(points) => Self::Points(points as u64),
            Access::Range | Access::SkipScan => Self::Ranges(ranges as u64),
            Access::Full => Self::All,
        }
    }
}

/// Row counts that the statistics of a table estimate for an access path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// Rows in the key ranges.
    pub in_ranges: f64,
    /// Whether the first part of the key has statistics. If not, default selectivities are used.
    pub from_statistics: bool,
    /// Those of `in_ranges` that satisfy the conditions checked before rows are fetched.
    pub fetched: f64,
    /// Those that satisfy all conditions.
    pub wanted: f64,
    /// Clustering of the fetched rows in the table: the absolute correlation of the index order with the rowkey order.
    pub clustering: f64,
}

/// The cost of an access path, in units of reading the next row of a scan, and the rows that it returns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// The cost.
    pub cost: f64,
    /// The rows.
    pub rows: f64,
}

/// One access path to the rows.
#[derive(Clone, Copy, Debug)]
pub struct CandidatePath {
    /// The data that it reads.
    pub source: Source,
    /// The part of the data that it reads.
    pub reach: Reach,
    /// The number of leading key parts that the conditions restrict.
    pub parts_used: usize,
    /// Whether each range has at most one row: a unique index with a value for each part.
    pub unique: bool,
    /// The store's estimate of the rows in the ranges, in whole blocks.
    pub rows: u64,
    /// The store's estimate of their bytes.
    pub bytes: u64,
    /// Whether every row in the ranges satisfies all conditions.
    pub exact: bool,
    /// Whether the rows are returned in the requested order (true if none is requested).
    pub ordered: bool,
    /// Estimates from statistics, if any.
    pub expected: Option<Expected>,
    /// If the query needs only one row of each group of adjacent equal rows: the estimated number of groups.
    pub groups: Option<f64>,
    /// The position of the index in a hint, the first one is best; `None` if no hint names it.
    pub preferred: Option<usize>,
    /// The cost of reading the entries of another index to intersect with; `None` without an intersection.
    pub beside: Option<f64>,
    /// The expected lookups by joins while the statement runs; `None` if there are none.
    pub lookups: Option<Lookups>,
}

/// Index lookups by values of the first key column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lookups {
    /// The number of values.
    pub keys: f64,
    /// The number of rows per value.
    pub rows_of_each: f64,
    /// Whether it is the key of an index whose rows must be fetched.
    pub fetches: bool,
}

/// The cost of seeking to a key.
const SEEK: f64 = 16.0;
/// The cost of getting one row by its key, in a batch.
const GET: f64 = 16.0;
/// The cost of getting one row in a batch of adjacent rows.
const GET_CLUSTERED: f64 = 6.0;
/// Bytes that cost as much as a row.
const BYTES_OF_A_ROW: f64 = 128.0;
/// A row estimate up to this size counts one or two blocks, most of whose rows are outside the range.
const SMALL_ESTIMATE_ROWS: f64 = 512.0;
/// The fraction of the rows of such blocks that are in the range.
const SMALL_ESTIMATE_FRACTION: f64 = 0.25;
/// The assumed number of rows to read for each row that passes the remaining filter.
const ROWS_READ_PER_MATCH: f64 = 20.0;
/// The assumed number of rows to read per group if one row is enough, including the seek to the next group.
const ROWS_READ_PER_GROUP: f64 = 48.0;
/// The cost of sorting one row.
const SORT: f64 = 0.5;
/// The cost per entry of a merge intersection, in rowkey order.
const MERGE: f64 = 0.25;
/// The cost per entry of a hash intersection.
const HASH: f64 = 1.0;

impl CandidatePath {
    /// An access path without further estimates. Its rows are in the requested order.
    pub fn new(source: Source, reach: Reach, parts_used: usize, size: TableSize) -> Self {
        Self {
            source,
            reach,
            parts_used,
            unique: false,
            rows: size.rows,
            bytes: size.bytes,
            exact: true,
            ordered: true,
            expected: None,
            groups: None,
            preferred: None,
            beside: None,
            lookups: None,
        }
    }

    /// Whether it uses an index in a useful way.
    fn is_applicable(&self) -> bool {
        match self.source {
            Source::Table => false,
            Source::Covering => true,
            Source::Fetching => self.narrows() || self.reach == Reach::Nothing,
        }
    }

    fn narrows(&self) -> bool {
        self.parts_used > 0 && self.reach != Reach::All
    }

    /// The same access path, restricted to entries whose rowkeys `other` also has. `merges`: both are in rowkey order.
    #[must_use]
    pub fn intersected(self, other: &Self, merges: bool) -> Self {
        let read =
            Self { source: Source::Covering, ordered: true, groups: None, beside: None, ..*other }.estimate(None);
        let entries = |path: &Self| path.expected.map_or(path.rows as f64, |expected| expected.in_ranges);
        let each = if merges { MERGE } else { HASH };
        Self { beside: Some(read.cost + each * (entries(other) + entries(&self))), ..self }
    }

    /// The cost if `fetch` rows are enough.
    pub fn cost(&self, fetch: Option<usize>) -> f64 {
        self.estimate(fetch).cost
    }

    /// The cost and the number of rows returned if `fetch` rows are enough.
    pub fn estimate(&self, fetch: Option<usize>) -> Cost {
        let (seeks, in_ranges) = match self.reach {
            Reach::Nothing => return Cost { cost: 0.0, rows: 0.0 },
            Reach::Points(points) => (0.0, points as f64),
            Reach::Ranges(ranges) => (ranges as f64 * SEEK, self.rows_of(ranges as f64)),
            Reach::All => (SEEK, self.expected.map_or(self.rows as f64, |expected| expected.in_ranges)),
        };
        let all = in_ranges.max(1.0);
        let (passing, wanted) = self.shares();
        let read = match fetch {
            Some(fetch) if self.ordered => all.min((fetch as f64 / wanted).max(1.0)),
            _ => self.groups.map_or(all, |groups| all.min((groups * ROWS_READ_PER_GROUP).max(1.0))),
        };
        let width = self.bytes as f64 / (self.rows.max(1) as f64) / BYTES_OF_A_ROW;
        let each = match (self.reach, self.source) {
            (Reach::Points(_), Source::Table | Source::Covering) => GET,
            (_, Source::Table | Source::Covering) => 1.0 + width,
            (_, Source::Fetching) => 1.0 + width + passing * self.get(),
        };
        let sort = if self.ordered { 0.0 } else { all * SORT };
        let scan = seeks + read * each;
        let read = self.lookups.map_or(scan, |lookups| scan.min(lookups.cost(1.0 + width, self.get())));
        // Rounded, to remove floating-point errors.
        let rows = (all * self.expected.map_or(1.0, |_| wanted)).round().max(1.0);
        let rows = fetch.map_or(rows, |fetch| rows.min(fetch as f64));
        Cost { cost: read + sort + self.beside.unwrap_or(0.0), rows }
    }

    /// The fraction of the rows in the ranges that is fetched, and the fraction that is returned.
    fn shares(&self) -> (f64, f64) {
        match self.expected {
            Some(expected) => {
                let all = expected.in_ranges.max(f64::MIN_POSITIVE);
                let least = (0.5 / expected.in_ranges.max(1.0)).min(1.0);
                let share = |part: f64| (part / all).clamp(least, 1.0);
                (share(expected.fetched), share(expected.wanted))
            }
            None if self.exact => (1.0, 1.0),
            None => (1.0, 1.0 / ROWS_READ_PER_MATCH),
        }
    }

    /// The cost of getting the row of an entry, lower if the rows are clustered.
    fn get(&self) -> f64 {
        let near = self.expected.map_or(0.0, |expected| expected.clustering * expected.clustering);
        GET + (GET_CLUSTERED - GET) * near.clamp(0.0, 1.0)
    }

    /// Rows in the ranges. Statistics are preferred to the store's estimate, which counts whole blocks.
    fn rows_of(&self, ranges: f64) -> f64 {
        let guessed = self.rows as f64;
        match self.expected {
            _ if self.unique => ranges.min(guessed.max(1.0)),
            Some(expected) if expected.from_statistics => expected.in_ranges.min(guessed.max(1.0)),
            _ if guessed > SMALL_ESTIMATE_ROWS * ranges => guessed,
            _ => guessed * SMALL_ESTIMATE_FRACTION,
        }
    }
}

impl Lookups {
    /// The cost of the lookups, with the cost `each` of reading a row and `get` of fetching the row of an entry.
    fn cost(&self, each: f64, get: f64) -> f64 {
        let each = if self.fetches { each + get } else { each };
        self.keys * (SEEK + self.rows_of_each * each)
    }
}

/// Returns the index of the best access path; among paths of the same cost the first one. `fetch`: only this number of
/// rows is needed, in the requested order.
pub fn choose(choice: IndexChoice, paths: &[CandidatePath], fetch: Option<usize>) -> usize {
    let intersects = paths.iter().any(|path| path.beside.is_some());
    let usable = |path: &CandidatePath| match choice {
        IndexChoice::Off => path.source == Source::Table,
        // A full index scan replaces a full table scan if it is narrower or in the requested order.
        IndexChoice::Auto => path.source == Source::Table || path.is_applicable() || path.ordered && fetch.is_some(),
        IndexChoice::Force => path.is_applicable(),
        IndexChoice::Intersect => path.is_applicable() && (path.beside.is_some() || !intersects),
    };
    let nothing = |path: &CandidatePath| path.source == Source::Table && path.reach == Reach::Nothing;
    if let Some(at) = paths.iter().position(nothing) {
        return at;
    }
    // A hint applies to every path through its index, regardless of the cost.
    let hinted = paths.iter().enumerate().filter_map(|(at, path)| Some((path.preferred?, at)));
    if let Some((_, at)) = hinted.filter(|_| choice != IndexChoice::Off).min() {
        return at;
    }
    let mut best: Option<(bool, f64, usize)> = None;
    for (at, path) in paths.iter().enumerate().filter(|(_, path)| usable(path)) {
        // A forced index should be one with conditions on its key, if there is one.
        let idle = choice.is_forced() && !path.narrows();
        let cost = path.cost(fetch);
        if best.is_none_or(|(other, least, _)| (idle, cost) < (other, least)) {
            best = Some((idle, cost, at));
        }
    }
    best.map_or(0, |(_, _, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(reach: Reach, rows: u64) -> CandidatePath {
        let size = TableSize { rows, bytes: rows * 100 };
        CandidatePath { exact: reach != Reach::All, ..CandidatePath::new(Source::Table, reach, 0, size) }
    }

    fn index(source: Source, ranges: u64, rows: u64) -> CandidatePath {
        let reach = if ranges == 0 { Reach::All } else { Reach::Ranges(ranges) };
        let parts_used = usize::from(ranges > 0);
        let size = TableSize { rows, bytes: rows * 30 };
        CandidatePath { exact: ranges > 0, ..CandidatePath::new(source, reach, parts_used, size) }
    }

    const AUTO: IndexChoice = IndexChoice::Auto;

    #[test]
    fn access_paths_rank_as_they_should() {
        let unique = CandidatePath { unique: true, ..index(Source::Fetching, 1, 60) };
        let ranked = [
            table(Reach::Points(1), 1),
            CandidatePath { parts_used: 1, ..table(Reach::Ranges(1), 20) },
            unique,
            index(Source::Covering, 1, 1_000),
            index(Source::Fetching, 1, 1_000),
            table(Reach::All, 1_000_000),
        ];
        for (at, pair) in ranked.windows(2).enumerate() {
            assert_eq!(choose(AUTO, pair, None), 0, "{at}");
            let turned: Vec<CandidatePath> = pair.iter().rev().copied().collect();
            assert_eq!(choose(AUTO, &turned, None), 1, "{at}");
        }
    }

    #[test]
    fn a_range_of_most_rows_is_not_fetched_row_by_row() {
        let whole = table(Reach::All, 100_000);
        assert_eq!(choose(AUTO, &[whole, index(Source::Fetching, 1, 90_000)], None), 0);
        assert_eq!(choose(AUTO, &[whole, index(Source::Covering, 1, 90_000)], None), 1);
        assert_eq!(choose(AUTO, &[whole, index(Source::Fetching, 1, 900)], None), 1);
    }

    #[test]
    fn the_first_rows_in_order_come_from_an_index_with_that_order() {
        let whole = CandidatePath { ordered: false, ..table(Reach::All, 100_000) };
        let sorted = index(Source::Fetching, 0, 100_000);
        assert_eq!(choose(AUTO, &[whole, sorted], Some(10)), 1);
        assert_eq!(choose(AUTO, &[whole, sorted], None), 0);
        assert_eq!(choose(AUTO, &[whole, sorted], Some(90_000)), 0);
    }

    #[test]
    fn a_whole_index_is_read_only_if_it_covers_and_is_narrower() {
        let whole = table(Reach::All, 5_000);
        assert_eq!(choose(AUTO, &[whole, index(Source::Covering, 0, 5_000)], None), 1);
        let wide = CandidatePath { bytes: 5_000 * 200, ..index(Source::Covering, 0, 5_000) };
        assert_eq!(choose(AUTO, &[whole, wide], None), 0);
        assert_eq!(choose(AUTO, &[whole, index(Source::Fetching, 0, 5_000)], None), 0);
    }

    #[test]
    fn a_key_that_joins_look_few_rows_up_by_is_cheaper_than_a_narrow_index() {
        let (whole, narrow) = (table(Reach::All, 100_000), index(Source::Covering, 0, 100_000));
        let looked_up = |keys, fetches| {
            let lookups = Some(Lookups { keys, rows_of_each: 2.0, fetches });
            choose(AUTO, &[CandidatePath { lookups, ..whole }, narrow], None)
        };
        assert_eq!(choose(AUTO, &[whole, narrow], None), 1);
        assert_eq!(looked_up(1_000.0, false), 0);
        assert_eq!(looked_up(1_000.0, true), 0);
        assert_eq!(looked_up(50_000.0, false), 1);
        // Getting the row of each entry costs more than scanning.
        assert_eq!((looked_up(5_000.0, false), looked_up(5_000.0, true)), (0, 1));
    }

    #[test]
    fn off_and_force_are_obeyed() {
        let point = table(Reach::Points(1), 1);
        let (range, whole) = (index(Source::Fetching, 3, 90_000), index(Source::Covering, 0, 90_000));
        assert_eq!(choose(IndexChoice::Off, &[table(Reach::All, 90_000), range], None), 0);
        assert_eq!(choose(IndexChoice::Force, &[point, whole, range], None), 2);
        assert_eq!(choose(IndexChoice::Force, &[point, whole], None), 1);
        assert_eq!(choose(IndexChoice::Force, &[point, index(Source::Fetching, 0, 9)], None), 0);
        assert_eq!(choose(IndexChoice::Force, &[table(Reach::Nothing, 0), range], None), 0);
    }

    fn expecting(path: CandidatePath, in_ranges: f64, fetched: f64, wanted: f64) -> CandidatePath {
        CandidatePath {
            expected: Some(Expected { in_ranges, from_statistics: true, fetched, wanted, clustering: 0.0 }),
            ..path
        }
    }

    #[test]
    fn statistics_tell_few_rows_from_the_block_that_they_are_in() {
        let (one, other) = (index(Source::Fetching, 1, 300), index(Source::Fetching, 1, 250));
        assert_eq!(choose(AUTO, &[one, other], None), 1);
        let (one, other) = (expecting(one, 2.0, 2.0, 2.0), expecting(other, 200.0, 200.0, 2.0));
        assert_eq!(choose(AUTO, &[one, other], None), 0);
        // The store's estimate may be far off, unless the column has no statistics.
        let many = expecting(index(Source::Fetching, 1, 90_000), 3.0, 3.0, 3.0);
        assert_eq!(choose(AUTO, &[table(Reach::All, 100_000), many], None), 1);
        let untold =
            CandidatePath { expected: many.expected.map(|it| Expected { from_statistics: false, ..it }), ..many };
        assert_eq!(choose(AUTO, &[table(Reach::All, 100_000), untold], None), 0);
    }

    #[test]
    fn conditions_on_entries_spare_fetches() {
        let whole = table(Reach::All, 10_000);
        let range = index(Source::Fetching, 1, 5_000);
        assert_eq!(choose(AUTO, &[whole, range], None), 0);
        assert_eq!(choose(AUTO, &[whole, expecting(range, 5_000.0, 50.0, 50.0)], None), 1);
    }

    #[test]
    fn an_index_in_the_order_of_the_table_is_cheaper_to_fetch_by() {
        let range = expecting(index(Source::Fetching, 1, 1_500), 1_500.0, 1_500.0, 1_500.0);
        let near = Expected { clustering: 0.99, ..range.expected.unwrap_or_else(|| unreachable!()) };
        let near = CandidatePath { expected: Some(near), ..range };
        assert!(near.cost(None) < range.cost(None) * 0.6);
    }

    #[test]
    fn the_first_rows_that_are_rare_are_not_looked_for_in_order() {
        let whole = CandidatePath { ordered: false, ..table(Reach::All, 100_000) };
        let sorted = index(Source::Fetching, 0, 100_000);
        let frequent = expecting(sorted, 100_000.0, 100_000.0, 50_000.0);
        let rare = expecting(sorted, 100_000.0, 100_000.0, 20.0);
        assert_eq!(choose(AUTO, &[expecting(whole, 1e5, 1e5, 5e4), frequent], Some(10)), 1);
        assert_eq!(choose(AUTO, &[expecting(whole, 1e5, 1e5, 20.0), rare], Some(10)), 0);
    }

    #[test]
    fn an_index_whose_rows_come_in_few_groups_is_skipped_through() {
        let whole = table(Reach::All, 100_000);
        let wide = CandidatePath { bytes: 100_000 * 400, ..index(Source::Covering, 0, 100_000) };
        assert_eq!(choose(AUTO, &[whole, wide], None), 0);
        assert_eq!(choose(AUTO, &[whole, CandidatePath { groups: Some(5.0), ..wide }], None), 1);
    }

    #[test]
    fn the_index_of_a_hint_is_taken() {
        let point = table(Reach::Points(1), 1);
        let hinted = CandidatePath { preferred: Some(1), ..index(Source::Fetching, 0, 90_000) };
        let first = CandidatePath { preferred: Some(0), ..index(Source::Fetching, 1, 90_000) };
        assert_eq!(choose(AUTO, &[point, hinted], None), 1);
        assert_eq!(choose(AUTO, &[point, hinted, first], None), 2);
        assert_eq!(choose(IndexChoice::Off, &[point, hinted], None), 0);
    }

    #[test]
    fn an_empty_table_is_reached_in_some_way() {
        let paths = [table(Reach::All, 0), index(Source::Fetching, 1, 0)];
        assert!(choose(AUTO, &paths, None) < paths.len());
        assert_eq!(choose(AUTO, &[], None), 0);
    }

    #[test]
    fn two_indexes_are_intersected_where_neither_alone_is_narrow_enough() {
        let whole = expecting(table(Reach::All, 1_000_000), 1_000_000.0, 1_000_000.0, 100.0);
        let one = expecting(index(Source::Fetching, 1, 10_000), 10_000.0, 10_000.0, 100.0);
        let both = expecting(index(Source::Fetching, 1, 10_000), 10_000.0, 100.0, 100.0);
        assert_eq!(choose(AUTO, &[whole, one, both.intersected(&one, true)], None), 2);
        assert_eq!(choose(AUTO, &[whole, one, both.intersected(&one, false)], None), 2);
        assert!(both.intersected(&one, true).cost(None) < both.intersected(&one, false).cost(None));
        // A small range is fetched directly: an intersection does not pay off.
        let few = expecting(index(Source::Fetching, 1, 20), 20.0, 20.0, 1.0);
        let thinned = expecting(index(Source::Fetching, 1, 20), 20.0, 1.0, 1.0);
        assert_eq!(choose(AUTO, &[whole, few, thinned.intersected(&one, true)], None), 1);
        // Two ranges of half the table each cost more than a table scan.
        let half = expecting(index(Source::Fetching, 1, 500_000), 500_000.0, 500_000.0, 250_000.0);
        let quarter = expecting(index(Source::Fetching, 1, 500_000), 500_000.0, 250_000.0, 250_000.0);
        assert_eq!(choose(AUTO, &[whole, half, quarter.intersected(&half, true)], None), 0);
        assert_eq!(choose(IndexChoice::Intersect, &[whole, few, thinned.intersected(&one, true)], None), 2);
        assert_eq!(choose(IndexChoice::Intersect, &[whole, few], None), 1);
    }
}
