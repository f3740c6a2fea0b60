//! Which access path to the rows is taken: by the rowkey, or by an index.
//!
//! A pure function of what is known of each access path: of the store, and of statistics where there are some. Costs are in
//! rows of a scan: what it takes to read one row that lies behind the one before. The order that comes of them, where all
//! else is equal:
//!
//! ```text
//!   a key < a short range of keys < a unique index with a value for each part < a range of a covering index
//!         < a range of an index whose rows are fetched < the whole table
//! ```

use rowkey::range::Access;
use store::TableSize;

/// What a session lets the choice be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IndexChoice {
    /// The least cost.
    #[default]
    Auto,
    /// No index.
    Off,
    /// An index wherever one can be used.
    Force,
    /// Two indexes wherever their entries can be intersected, elsewhere as `Force`: for tests.
    Intersect,
}

impl IndexChoice {
    /// As the setting `bennu.index_choice` names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Off => "off",
            Self::Force => "force",
            Self::Intersect => "intersect",
        }
    }

    /// From the value of the setting `bennu.index_choice`.
    pub fn from_setting(value: &str) -> Option<Self> {
        match value {
            "auto" => Some(Self::Auto),
            "off" => Some(Self::Off),
            "force" => Some(Self::Force),
            "intersect" => Some(Self::Intersect),
            _ => None,
        }
    }

    /// Is an index taken whatever it costs?
    pub fn is_forced(self) -> bool {
        matches!(self, Self::Force | Self::Intersect)
    }
}

/// What is scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The table itself.
    Table,
    /// Entries that have all that is asked for.
    Covering,
    /// Entries, and for each of them its row.
    Fetching,
}

/// How much of it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing: no row can satisfy the conditions.
    Nothing,
    /// So many single keys.
    Points(u64),
    /// So many ranges of keys.
    Ranges(u64),
    /// All of it.
    All,
}

impl Reach {
    /// Of so many ranges.
    pub fn of(access: Access, ranges: usize) -> Self {
        match access {
            Access::Empty => Self::Nothing,
            Access::Points(points) => Self::Points(points as u64),
            Access::Range | Access::SkipScan => Self::Ranges(ranges as u64),
            Access::Full => Self::All,
        }
    }
}

/// What the statistics of a table say of an access path, in rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// In the ranges of its keys.
    pub in_ranges: f64,
    /// Are there statistics of the first part of its key? Otherwise it is the guess of a default.
    pub from_statistics: bool,
    /// Of those, such as pass what is checked before rows are fetched.
    pub fetched: f64,
    /// Of those, such as pass everything.
    pub wanted: f64,
    /// How near to each other the fetched rows lie in the table: the correlation of the index's order with that of the
    /// rowkey, without its sign.
    pub nearness: f64,
}

/// What an access path costs, in rows of a scan, and how many rows it gives.
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
    /// What is scanned.
    pub source: Source,
    /// How much of it.
    pub reach: Reach,
    /// Leading parts of its key that the conditions bind to values or restrict.
    pub parts_used: usize,
    /// Does each range hold one row at most: a unique index with a value for each part?
    pub unique: bool,
    /// Rows in the ranges, as the store guesses them: blocks are counted whole.
    pub rows: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Is every row in the ranges one that is asked for?
    pub exact: bool,
    /// Do the rows come in the order that is asked for (true if none is)?
    pub ordered: bool,
    /// By statistics, if there are any.
    pub expected: Option<Expected>,
    /// If one row is enough of each group of equal ones that lie side by side: about how many groups there are.
    pub groups: Option<f64>,
    /// The place among the indexes that a hint names, the first one best; `None`: it names others, or there is none.
    pub preferred: Option<usize>,
    /// What it costs to read the entries of another index with which its entries are intersected; `None`: there is none.
    pub beside: Option<f64>,
    /// The keys that joins are expected to look its rows up by while the statement runs; `None`: they do not.
    pub lookups: Option<Lookups>,
}

/// Look-ups by values of the first column of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lookups {
    /// How many values.
    pub keys: f64,
    /// How many rows each of them has.
    pub rows_of_each: f64,
    /// Is it the key of an index whose rows are fetched?
    pub fetches: bool,
}

/// To go to a place in a store and find out where to read on.
const SEEK: f64 = 16.0;
/// To get one row by its key, in a batch of such.
const GET: f64 = 16.0;
/// The same where the rows of a batch lie side by side.
const GET_NEAR: f64 = 6.0;
/// Bytes that cost as much as a row.
const BYTES_OF_A_ROW: f64 = 128.0;
/// A guess of so few rows is that of a block or two: most of them lie beside the range.
const ROWS_OF_BLOCKS: f64 = 512.0;
/// The share of such rows that are in the range.
const SHARE_OF_BLOCKS: f64 = 0.25;
/// Rows that must be read for one that passes what is checked on rows.
const READ_FOR_ONE: f64 = 20.0;
/// Rows that are read of a group of which one is enough, and the way to the next one.
const READ_OF_GROUP: f64 = 48.0;
/// To sort a row that comes out of order.
const SORT: f64 = 0.5;
/// To compare an entry with those of another index that come in the order of rowkeys, too.
const MERGE: f64 = 0.25;
/// To keep the rowkey of an entry in a set, or to look one up there.
const HASH: f64 = 1.0;

impl CandidatePath {
    /// An access path of which no more is known. Its rows come as they are asked for.
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

    /// Does it use an index for something?
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

    /// The same access path where only those entries count whose rowkeys `other` has, too. `merges`: both come in the order of
    /// rowkeys.
    #[must_use]
    pub fn intersected(self, other: &Self, merges: bool) -> Self {
        let read =
            Self { source: Source::Covering, ordered: true, groups: None, beside: None, ..*other }.estimate(None);
        let entries = |path: &Self| path.expected.map_or(path.rows as f64, |expected| expected.in_ranges);
        let each = if merges { MERGE } else { HASH };
        Self { beside: Some(read.cost + each * (entries(other) + entries(&self))), ..self }
    }

    /// What it costs when `fetch` rows are enough.
    pub fn cost(&self, fetch: Option<usize>) -> f64 {
        self.estimate(fetch).cost
    }

    /// What it costs, and how many rows it gives, when `fetch` rows are enough.
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
            _ => self.groups.map_or(all, |groups| all.min((groups * READ_OF_GROUP).max(1.0))),
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
        // Free of what is left of fractions.
        let rows = (all * self.expected.map_or(1.0, |_| wanted)).round().max(1.0);
        let rows = fetch.map_or(rows, |fetch| rows.min(fetch as f64));
        Cost { cost: read + sort + self.beside.unwrap_or(0.0), rows }
    }

    /// Of the rows in the ranges, the share whose rows are fetched, and the share that is wanted.
    fn shares(&self) -> (f64, f64) {
        match self.expected {
            Some(expected) => {
                let all = expected.in_ranges.max(f64::MIN_POSITIVE);
                let least = (0.5 / expected.in_ranges.max(1.0)).min(1.0);
                let share = |part: f64| (part / all).clamp(least, 1.0);
                (share(expected.fetched), share(expected.wanted))
            }
            None if self.exact => (1.0, 1.0),
            None => (1.0, 1.0 / READ_FOR_ONE),
        }
    }

    /// To get a row for an entry: the nearer the rows lie, the less.
    fn get(&self) -> f64 {
        let near = self.expected.map_or(0.0, |expected| expected.nearness * expected.nearness);
        GET + (GET_NEAR - GET) * near.clamp(0.0, 1.0)
    }

    /// Rows in the ranges. The store counts whole blocks, or guesses: statistics know better.
    fn rows_of(&self, ranges: f64) -> f64 {
        let guessed = self.rows as f64;
        match self.expected {
            _ if self.unique => ranges.min(guessed.max(1.0)),
            Some(expected) if expected.from_statistics => expected.in_ranges.min(guessed.max(1.0)),
            _ if guessed > ROWS_OF_BLOCKS * ranges => guessed,
            _ => guessed * SHARE_OF_BLOCKS,
        }
    }
}

impl Lookups {
    /// What they cost where reading a row takes `each`, and to get one for an entry `get`.
    fn cost(&self, each: f64, get: f64) -> f64 {
        let each = if self.fetches { each + get } else { each };
        self.keys * (SEEK + self.rows_of_each * each)
    }
}

/// The number of the best access path; those to the same rows at the same cost are better the earlier they come. `fetch`: only
/// so many rows are wanted, in the order asked for.
pub fn choose(choice: IndexChoice, paths: &[CandidatePath], fetch: Option<usize>) -> usize {
    let intersects = paths.iter().any(|path| path.beside.is_some());
    let usable = |path: &CandidatePath| match choice {
        IndexChoice::Off => path.source == Source::Table,
        // A whole index is read in place of a whole table if it is narrower or in the order that is wanted.
        IndexChoice::Auto => path.source == Source::Table || path.is_applicable() || path.ordered && fetch.is_some(),
        IndexChoice::Force => path.is_applicable(),
        IndexChoice::Intersect => path.is_applicable() && (path.beside.is_some() || !intersects),
    };
    let nothing = |path: &CandidatePath| path.source == Source::Table && path.reach == Reach::Nothing;
    if let Some(at) = paths.iter().position(nothing) {
        return at;
    }
    // A hint is obeyed wherever its index leads to the rows at all.
    let hinted = paths.iter().enumerate().filter_map(|(at, path)| Some((path.preferred?, at)));
    if let Some((_, at)) = hinted.filter(|_| choice != IndexChoice::Off).min() {
        return at;
    }
    let mut best: Option<(bool, f64, usize)> = None;
    for (at, path) in paths.iter().enumerate().filter(|(_, path)| usable(path)) {
        // An index that is forced is one with conditions on it, if there is one.
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
        // Getting each row for an entry costs more than reading on.
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
            expected: Some(Expected { in_ranges, from_statistics: true, fetched, wanted, nearness: 0.0 }),
            ..path
        }
    }

    #[test]
    fn statistics_tell_few_rows_from_the_block_that_they_are_in() {
        let (one, other) = (index(Source::Fetching, 1, 300), index(Source::Fetching, 1, 250));
        assert_eq!(choose(AUTO, &[one, other], None), 1);
        let (one, other) = (expecting(one, 2.0, 2.0, 2.0), expecting(other, 200.0, 200.0, 2.0));
        assert_eq!(choose(AUTO, &[one, other], None), 0);
        // A guess may be far off, too, unless nothing is known of the column.
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
        let near = Expected { nearness: 0.99, ..range.expected.unwrap_or_else(|| unreachable!()) };
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
        // A few entries are fetched, whatever another index may say of them.
        let few = expecting(index(Source::Fetching, 1, 20), 20.0, 20.0, 1.0);
        let thinned = expecting(index(Source::Fetching, 1, 20), 20.0, 1.0, 1.0);
        assert_eq!(choose(AUTO, &[whole, few, thinned.intersected(&one, true)], None), 1);
        // Half the table twice is read as a table.
        let half = expecting(index(Source::Fetching, 1, 500_000), 500_000.0, 500_000.0, 250_000.0);
        let quarter = expecting(index(Source::Fetching, 1, 500_000), 500_000.0, 250_000.0, 250_000.0);
        assert_eq!(choose(AUTO, &[whole, half, quarter.intersected(&half, true)], None), 0);
        assert_eq!(choose(IndexChoice::Intersect, &[whole, few, thinned.intersected(&one, true)], None), 2);
        assert_eq!(choose(IndexChoice::Intersect, &[whole, few], None), 1);
    }
}
