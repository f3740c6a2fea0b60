//! Which way to the rows is taken: by the rowkey, or by an index.
//!
//! A pure function of what is known of each way. Costs are in rows of a scan: what it takes to read one row that lies
//! behind the one before. The order that comes of them, where all else is equal:
//!
//! ```text
//!   a key < a short range of keys < a unique index with a value for each part < a range of a covering index
//!         < a range of an index whose rows are fetched < the whole table
//! ```

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
}

impl IndexChoice {
    /// From the value of the setting `bennu.index_choice`.
    pub fn from_setting(value: &str) -> Option<Self> {
        match value {
            "auto" => Some(Self::Auto),
            "off" => Some(Self::Off),
            "force" => Some(Self::Force),
            _ => None,
        }
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

/// One way to the rows.
#[derive(Clone, Copy, Debug)]
pub struct Way {
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
}

/// To go to a place in a store and find out where to read on.
const SEEK: f64 = 16.0;
/// To get one row by its key, in a batch of such.
const GET: f64 = 16.0;
/// Bytes that cost as much as a row.
const BYTES_OF_A_ROW: f64 = 128.0;
/// A guess of so few rows is that of a block or two: most of them lie beside the range.
const ROWS_OF_BLOCKS: f64 = 512.0;
/// The share of such rows that are in the range.
const SHARE_OF_BLOCKS: f64 = 0.25;
/// Rows that must be read for one that passes what is checked on rows.
const READ_FOR_ONE: f64 = 20.0;
/// To sort a row that comes out of order.
const SORT: f64 = 0.5;

impl Way {
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

    /// What it costs when `fetch` rows are enough.
    pub fn cost(&self, fetch: Option<usize>) -> f64 {
        let (seeks, in_range) = match self.reach {
            Reach::Nothing => return 0.0,
            Reach::Points(points) => (0.0, points as f64),
            Reach::Ranges(ranges) => (ranges as f64 * SEEK, self.rows_of(ranges as f64)),
            Reach::All => (SEEK, self.rows as f64),
        };
        let all = in_range.max(1.0);
        let read = match fetch {
            Some(fetch) if self.ordered => {
                let wanted = fetch as f64 * if self.exact { 1.0 } else { READ_FOR_ONE };
                all.min(wanted.max(1.0))
            }
            _ => all,
        };
        let width = self.bytes as f64 / (self.rows.max(1) as f64) / BYTES_OF_A_ROW;
        let each = match (self.reach, self.source) {
            (Reach::Points(_), Source::Table | Source::Covering) => GET,
            (_, Source::Table | Source::Covering) => 1.0 + width,
            (_, Source::Fetching) => 1.0 + width + GET,
        };
        let sort = if self.ordered { 0.0 } else { all * SORT };
        seeks + read * each + sort
    }

    fn rows_of(&self, ranges: f64) -> f64 {
        let guessed = self.rows as f64;
        if self.unique {
            ranges.min(guessed.max(1.0))
        } else if guessed <= ROWS_OF_BLOCKS * ranges {
            guessed * SHARE_OF_BLOCKS
        } else {
            guessed
        }
    }
}

/// The number of the best way; those to the same rows at the same cost are better the earlier they come. `fetch`: only
/// so many rows are wanted, in the order asked for.
pub fn choose(choice: IndexChoice, ways: &[Way], fetch: Option<usize>) -> usize {
    let usable = |way: &Way| match choice {
        IndexChoice::Off => way.source == Source::Table,
        // A whole index is read in place of a whole table if it is narrower or in the order that is wanted.
        IndexChoice::Auto => way.source == Source::Table || way.is_applicable() || way.ordered && fetch.is_some(),
        IndexChoice::Force => way.is_applicable(),
    };
    let nothing = |way: &Way| way.source == Source::Table && way.reach == Reach::Nothing;
    if let Some(at) = ways.iter().position(nothing) {
        return at;
    }
    let mut best: Option<(bool, f64, usize)> = None;
    for (at, way) in ways.iter().enumerate().filter(|(_, way)| usable(way)) {
        // An index that is forced is one with conditions on it, if there is one.
        let idle = choice == IndexChoice::Force && !way.narrows();
        let cost = way.cost(fetch);
        if best.is_none_or(|(other, least, _)| (idle, cost) < (other, least)) {
            best = Some((idle, cost, at));
        }
    }
    best.map_or(0, |(_, _, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(reach: Reach, rows: u64) -> Way {
        let exact = reach != Reach::All;
        let source = Source::Table;
        Way { source, reach, parts_used: 0, unique: false, rows, bytes: rows * 100, exact, ordered: true }
    }

    fn index(source: Source, ranges: u64, rows: u64) -> Way {
        let reach = if ranges == 0 { Reach::All } else { Reach::Ranges(ranges) };
        let parts_used = usize::from(ranges > 0);
        Way { source, reach, parts_used, unique: false, rows, bytes: rows * 30, exact: ranges > 0, ordered: true }
    }

    const AUTO: IndexChoice = IndexChoice::Auto;

    #[test]
    fn ways_rank_as_they_should() {
        let unique = Way { unique: true, ..index(Source::Fetching, 1, 60) };
        let ranked = [
            table(Reach::Points(1), 1),
            Way { parts_used: 1, ..table(Reach::Ranges(1), 20) },
            unique,
            index(Source::Covering, 1, 1_000),
            index(Source::Fetching, 1, 1_000),
            table(Reach::All, 1_000_000),
        ];
        for (at, pair) in ranked.windows(2).enumerate() {
            assert_eq!(choose(AUTO, pair, None), 0, "{at}");
            let turned: Vec<Way> = pair.iter().rev().copied().collect();
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
        let whole = Way { ordered: false, ..table(Reach::All, 100_000) };
        let sorted = index(Source::Fetching, 0, 100_000);
        assert_eq!(choose(AUTO, &[whole, sorted], Some(10)), 1);
        assert_eq!(choose(AUTO, &[whole, sorted], None), 0);
        assert_eq!(choose(AUTO, &[whole, sorted], Some(90_000)), 0);
    }

    #[test]
    fn a_whole_index_is_read_only_if_it_covers_and_is_narrower() {
        let whole = table(Reach::All, 5_000);
        assert_eq!(choose(AUTO, &[whole, index(Source::Covering, 0, 5_000)], None), 1);
        let wide = Way { bytes: 5_000 * 200, ..index(Source::Covering, 0, 5_000) };
        assert_eq!(choose(AUTO, &[whole, wide], None), 0);
        assert_eq!(choose(AUTO, &[whole, index(Source::Fetching, 0, 5_000)], None), 0);
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

    #[test]
    fn an_empty_table_is_reached_in_some_way() {
        let ways = [table(Reach::All, 0), index(Source::Fetching, 1, 0)];
        assert!(choose(AUTO, &ways, None) < ways.len());
        assert_eq!(choose(AUTO, &[], None), 0);
    }
}
