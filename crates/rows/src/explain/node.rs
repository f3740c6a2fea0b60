//! The title, details and inputs of a node.

use super::Shown;
use crate::access::{AccessPath, Direction, ScanPath, Scanned, Width, rank};
use crate::exec::Choice;
use crate::expr::{Frame, RowExpr};
use crate::plan::{Aggregate, Limit, Lookup, Matching, Node, NodeKind, SortKey};
use bind::tree::{ColId, SetOpKind};
use index::Cost;
use rowkey::range::{Access, KeyRanges, describe};

/// The number of ranges that are printed; of further ones only their number.
const RANGES_SHOWN: usize = 4;

impl Node {
    /// The inputs of a node, each with a flag that tells whether it may read outer columns.
    pub(super) fn inputs(&self, correlated: bool) -> Vec<(&Self, bool)> {
        match &self.kind {
            NodeKind::OneRow | NodeKind::Rows(_) | NodeKind::Values(_) | NodeKind::Scan(_) | NodeKind::Once { .. } => {
                Vec::new()
            }
            NodeKind::Lookup(lookup) => vec![(&lookup.outer, correlated)],
            NodeKind::Loop(node) => {
                vec![(&node.outer, correlated), (&node.inner, correlated || !node.free.is_empty())]
            }
            NodeKind::Filter { input, .. }
            | NodeKind::Project { input, .. }
            | NodeKind::Pick { input, .. }
            | NodeKind::Distinct { input, .. }
            | NodeKind::Sort { input, .. } => vec![(input, correlated)],
            NodeKind::Aggregate(node) => vec![(&node.input, correlated)],
            NodeKind::Limit(node) => vec![(&node.input, correlated)],
            NodeKind::SetOp { left, right, .. } => vec![(left, correlated), (right, correlated)],
        }
    }
}

impl Shown<'_> {
    /// The title and the details; a node without a title is not printed.
    pub(super) fn describe(&self, node: &Node, correlated: bool) -> (Option<String>, Vec<String>) {
        let title = |title: &str| (Some(title.to_owned()), Vec::new());
        match &node.kind {
            NodeKind::OneRow => title("One row"),
            NodeKind::Rows(rows) => title(&format!("Values: rows={}", rows.len())),
            NodeKind::Values(rows) => title(&format!("Values: rows={}", rows.len())),
            NodeKind::Scan(path) => self.scan(path, &node.cols, correlated),
            NodeKind::Lookup(lookup) => self.lookup(lookup),
            NodeKind::Loop(join) => {
                let cols: Vec<ColId> = join.outer.cols.iter().chain(&join.inner.cols).copied().collect();
                let on = self.all("If", &join.on, &cols);
                (Some(format!("Nested loop{} join", kind(join.matching))), on.into_iter().collect())
            }
            NodeKind::Filter { input, conditions } => (self.all("Filter", conditions, &input.cols), Vec::new()),
            NodeKind::Project { exprs, .. } => {
                let computed: Vec<String> = exprs.iter().map(|expr| self.text(expr, &node.cols)).collect();
                (Some(format!("Compute: {}", computed.join(", "))), Vec::new())
            }
            NodeKind::Pick { .. } => (None, Vec::new()),
            NodeKind::Aggregate(aggregate) => self.aggregate(aggregate),
            NodeKind::Distinct { input, on } => {
                (Some("Distinct".to_owned()), vec![format!("By: {}", self.names(&input.cols, on))])
            }
            NodeKind::Sort { input, keys } => (Some(format!("Sort: {}", self.order(&input.cols, keys))), Vec::new()),
            NodeKind::Limit(limit) => (Some(self.limit(limit)), Vec::new()),
            NodeKind::SetOp { op, all, .. } => {
                let name = match op {
                    SetOpKind::Union => "Union",
                    SetOpKind::Intersect => "Intersect",
                    SetOpKind::Except => "Except",
                };
                title(&format!("{name}{}", if *all { " all" } else { "" }))
            }
            NodeKind::Once { number, .. } => title(&format!("Rows of Once {}", number + 1)),
        }
    }

    fn scan(&self, path: &ScanPath, cols: &[ColId], correlated: bool) -> (Option<String>, Vec<String>) {
        // The path that an execution takes if the values are known, else the one that is best independently of values.
        let chosen = self.choices.of(path);
        let by_cost = chosen.and_then(|choice| path.candidates.get(choice.taken));
        let Some(candidate) = by_cost.or_else(|| path.candidates.iter().min_by_key(|candidate| rank(candidate))) else {
            return (None, Vec::new());
        };
        let cost =
            chosen.filter(|_| self.costs).map_or_else(String::new, |Choice { cost: Cost { cost, rows }, .. }| {
                format!(" (cost={cost:.2} rows={:.0})", rows.ceil())
            });
        let other = chosen.and_then(|choice| path.candidates.get(choice.beside?));
        let frame = Frame { row: &[], values: &self.values };
        let ranges = if correlated { None } else { candidate.ranges(&frame).ok() };
        let back = if candidate.direction == Direction::Reverse { " (backward)" } else { "" };
        let mut details = Vec::new();
        match &ranges {
            Some(ranges) => details.extend(range_lines(candidate, ranges)),
            None => details.extend(self.all("Key", tested(path, candidate, true), cols)),
        }
        if let Some((other, ranges)) = other.and_then(|other| Some((other, other.ranges(&frame).ok()?))) {
            let name = index_name(other).unwrap_or_default();
            let lines = range_lines(other, &ranges).into_iter();
            details.extend(lines.map(|line| line.replacen("Index ranges:", &format!("Index ranges of {name}:"), 1)));
        }
        let exact = |at: usize| match &ranges {
            Some(ranges) => ranges.exact.get(at).copied().unwrap_or(false),
            None => candidate.tests.get(at).is_some_and(super::condition::is_known),
        };
        let rest = path.conditions.iter().enumerate().filter(|(at, _)| !exact(*at)).map(|(_, condition)| condition);
        details.extend(self.all("Filter", rest, cols));
        let how = how(candidate, other, ranges.as_ref());
        (Some(format!("{how} {}{back}{cost}", path.table.name)), details)
    }

    fn lookup(&self, lookup: &Lookup) -> (Option<String>, Vec<String>) {
        let path = &lookup.path;
        let scanned: Vec<ColId> = lookup.outer.cols.iter().chain(&path.cols).copied().collect();
        let Some(candidate) = path.candidates.first() else { return (None, Vec::new()) };
        let using = index_name(candidate).map_or_else(String::new, |index| format!(" using {index}"));
        let title = format!("Lookup{} join{using} on {}", kind(lookup.matching), path.table.name);
        let key = self.all("Key", tested(path, candidate, true), &scanned);
        let filter = self.all("Filter", tested(path, candidate, false), &scanned);
        (Some(title), key.into_iter().chain(filter).collect())
    }

    fn aggregate(&self, node: &Aggregate) -> (Option<String>, Vec<String>) {
        let cols = &node.input.cols;
        let call = |call: &crate::plan::Call| {
            let name = builtins::function(call.func).map_or("?", |function| function.name);
            let args = if call.args.is_empty() { "*".to_owned() } else { self.names(cols, &call.args) };
            format!("{name}({}{args})", if call.distinct { "DISTINCT " } else { "" })
        };
        let calls: Vec<String> = node.calls.iter().map(call).collect();
        let by = (!node.keys.is_empty()).then(|| format!("By: {}", self.names(cols, &node.keys)));
        let of = (!calls.is_empty()).then(|| format!("Of: {}", calls.join(", ")));
        let title = if node.keys.is_empty() { "Aggregate" } else { "Group" };
        (Some(title.to_owned()), by.into_iter().chain(of).collect())
    }

    fn order(&self, cols: &[ColId], keys: &[SortKey]) -> String {
        let key = |key: &SortKey| {
            let nulls = match (key.desc, key.nulls_first) {
                (false, true) => " NULLS FIRST",
                (true, false) => " NULLS LAST",
                _ => "",
            };
            format!("{}{}{nulls}", self.names(cols, &[key.at]), if key.desc { " DESC" } else { "" })
        };
        keys.iter().map(key).collect::<Vec<_>>().join(", ")
    }

    fn limit(&self, node: &Limit) -> String {
        let text = |expr: &RowExpr| match expr.eval(&Frame { row: &[], values: &self.values }) {
            Ok(count) => count.to_string(),
            Err(_) => self.text(expr, &[]),
        };
        let count = node.count.as_ref().map_or_else(|| "all".to_owned(), text);
        let offset = node.offset.as_ref().map_or_else(String::new, |offset| format!(", after {}", text(offset)));
        format!("Limit: {count}{offset}")
    }

    /// The conditions in one line.
    fn all<'e>(
        &self,
        label: &str,
        conditions: impl IntoIterator<Item = &'e RowExpr>,
        cols: &[ColId],
    ) -> Option<String> {
        let texts: Vec<String> = conditions.into_iter().map(|condition| self.operand(condition, cols)).collect();
        (!texts.is_empty()).then(|| format!("{label}: {}", texts.join(" AND ")))
    }
}

/// The name of a scan's access path.
fn how(candidate: &AccessPath, other: Option<&AccessPath>, ranges: Option<&KeyRanges>) -> String {
    let and = other.and_then(index_name).map_or_else(String::new, |other| format!(" and {other}"));
    let by_index = index_name(candidate).map(|index| match candidate.scanned {
        Scanned::Covering(..) => format!("Index only scan using {index} on"),
        _ => format!("Index scan using {index}{and} on"),
    });
    let name = match ranges.map(|ranges| ranges.access) {
        Some(Access::Empty) => "No rows of",
        _ if by_index.is_some() => return by_index.unwrap_or_default(),
        Some(Access::Points(_)) => "Point lookup on",
        Some(Access::Range) => "Range scan on",
        Some(Access::SkipScan) => "Skip scan on",
        Some(Access::Full) => "Full scan on",
        None if candidate.width() == Width::Points => "Point lookup on",
        None => "Range scan on",
    };
    name.to_owned()
}

fn index_name(candidate: &AccessPath) -> Option<&str> {
    match &candidate.scanned {
        Scanned::Rows(_) => None,
        Scanned::Covering(index, _) | Scanned::Fetching(index, _) => Some(&index.index().name),
    }
}

/// The conditions that restrict the key, or the others.
fn tested<'p>(path: &'p ScanPath, candidate: &AccessPath, known: bool) -> Vec<&'p RowExpr> {
    let all = candidate.tests.iter().zip(&path.conditions);
    all.filter(|(test, _)| super::condition::is_known(test) == known).map(|(_, condition)| condition).collect()
}

/// The ranges; with several salt buckets those of the first one.
fn range_lines(candidate: &AccessPath, ranges: &KeyRanges) -> Vec<String> {
    if matches!(ranges.access, Access::Full | Access::Empty) {
        return Vec::new();
    }
    let schema = candidate.scanned.codec().key_schema();
    let spread =
        ranges.buckets.as_ref().filter(|buckets| buckets.len() > 1 && !matches!(ranges.access, Access::Points(_)));
    let shown = match spread.and_then(|buckets| buckets.first()) {
        Some(first) => ranges.in_bucket(*first),
        None => ranges.ranges.clone(),
    };
    let mut texts: Vec<String> = shown.iter().take(RANGES_SHOWN).map(|range| describe(schema, range)).collect();
    if spread.is_some() {
        texts.iter_mut().for_each(|text| {
            *text = text.split_once(':').map_or_else(|| text.clone(), |(_, rest)| rest.to_owned());
        });
    }
    if shown.len() > RANGES_SHOWN {
        texts.push(format!("and {} more", shown.len() - RANGES_SHOWN));
    }
    let of = if index_name(candidate).is_some() { "Index" } else { "Key" };
    let mut lines = vec![format!("{of} ranges: {}", texts.join(", "))];
    if let (Some(buckets), Some(all)) = (&ranges.buckets, schema.salt_buckets) {
        let merged = buckets.len() > 1 && candidate.direction != Direction::Any;
        let how = if merged { ", merged in key order" } else { "" };
        lines.push(format!("Salt buckets: {} of {all}{how}", buckets.len()));
    }
    lines
}

fn kind(matching: Matching) -> &'static str {
    match matching {
        Matching::Inner => "",
        Matching::Left => " left",
        Matching::Semi => " semi",
        Matching::Anti => " anti",
        Matching::Mark => " mark",
    }
}
