//! What is shown of a node, and its inputs.

use super::Shown;
use crate::access::{AccessPath, Direction, ScanPath, Scanned, Width, rank};
use crate::exec::Choice;
use crate::explained::{Estimate, PlanNode, Property};
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
    /// The node without its inputs; `None` if it is not shown.
    pub(super) fn describe(&self, node: &Node, correlated: bool) -> Option<PlanNode> {
        Some(match &node.kind {
            NodeKind::OneRow => PlanNode::of("One row"),
            NodeKind::Rows(rows) => PlanNode::values(rows.len()),
            NodeKind::Values(rows) => PlanNode::values(rows.len()),
            NodeKind::Scan(path) => return self.scan(path, &node.cols, correlated),
            NodeKind::Lookup(lookup) => return self.lookup(lookup),
            NodeKind::Loop(join) => {
                let cols: Vec<ColId> = join.outer.cols.iter().chain(&join.inner.cols).copied().collect();
                PlanNode::joining("Nested loop", kind(join.matching), "").with(self.all("If", &join.on, &cols))
            }
            NodeKind::Filter { input, conditions } => {
                PlanNode::doing("Filter", "Filter", self.all("Filter", conditions, &input.cols)?.value?)
            }
            NodeKind::Project { exprs, .. } => {
                let computed: Vec<String> = exprs.iter().map(|expr| self.text(expr, &node.cols)).collect();
                PlanNode::doing("Compute", "Computed", computed.join(", "))
            }
            NodeKind::Pick { .. } => return None,
            NodeKind::Aggregate(aggregate) => self.aggregate(aggregate),
            NodeKind::Distinct { input, on } => {
                PlanNode::of("Distinct").with([Property::new("By", self.names(&input.cols, on))])
            }
            NodeKind::Sort { input, keys } => PlanNode::doing("Sort", "Sort key", self.order(&input.cols, keys)),
            NodeKind::Limit(limit) => PlanNode::doing("Limit", "Limit", self.limit(limit)),
            NodeKind::SetOp { op, all, .. } => {
                let name = match op {
                    SetOpKind::Union => "Union",
                    SetOpKind::Intersect => "Intersect",
                    SetOpKind::Except => "Except",
                };
                PlanNode::of(format!("{name}{}", if *all { " all" } else { "" }))
            }
            NodeKind::Once { number, .. } => PlanNode::of("Rows of Once")
                .titled(format!("Rows of Once {}", number + 1))
                .naming("Subplan", format!("Once {}", number + 1)),
        })
    }

    fn scan(&self, path: &ScanPath, cols: &[ColId], correlated: bool) -> Option<PlanNode> {
        // The path that an execution takes if the values are known, else the one that is best independently of values.
        let chosen = self.choices.of(path);
        let by_cost = chosen.and_then(|choice| path.candidates.get(choice.taken));
        let candidate = by_cost.or_else(|| path.candidates.iter().min_by_key(|candidate| rank(candidate)))?;
        let other = chosen.and_then(|choice| path.candidates.get(choice.beside?));
        let frame = Frame { row: &[], values: &self.values };
        let ranges = if correlated { None } else { candidate.ranges(&frame).ok() };
        let mut details = Vec::new();
        match &ranges {
            Some(ranges) => details.extend(range_lines(candidate, ranges)),
            None => details.extend(self.all("Key", tested(path, candidate, true), cols)),
        }
        if let Some((other, ranges)) = other.and_then(|other| Some((other, other.ranges(&frame).ok()?))) {
            let name = index_name(other).unwrap_or_default();
            let mut lines = range_lines(other, &ranges);
            if let Some(first) = lines.first_mut() {
                first.name = format!("Index ranges of {name}");
            }
            details.extend(lines);
        }
        let exact = |at: usize| match &ranges {
            Some(ranges) => ranges.exact.get(at).copied().unwrap_or(false),
            None => candidate.tests.get(at).is_some_and(super::condition::is_known),
        };
        let rest = path.conditions.iter().enumerate().filter(|(at, _)| !exact(*at)).map(|(_, condition)| condition);
        details.extend(self.all("Filter", rest, cols));
        let mut shown = scanned(candidate, other, ranges.as_ref(), &path.table.name).with(details);
        if let Some(Choice { cost: Cost { cost, rows }, .. }) = chosen.filter(|_| self.costs) {
            shown.estimate = Estimate { cost: Some(cost), rows: Some(rows.ceil() as u64) };
        }
        Some(shown)
    }

    fn lookup(&self, lookup: &Lookup) -> Option<PlanNode> {
        let path = &lookup.path;
        let scanned: Vec<ColId> = lookup.outer.cols.iter().chain(&path.cols).copied().collect();
        let candidate = path.candidates.first()?;
        let (table, index) = (&path.table.name, index_name(candidate));
        let using = index.map_or_else(String::new, |index| format!(" using {index}"));
        let node = PlanNode::joining("Lookup", kind(lookup.matching), &format!("{using} on {table}"));
        let node = index.into_iter().fold(node, |node, index| node.naming("Index name", index));
        let key = self.all("Key", tested(path, candidate, true), &scanned);
        let filter = self.all("Filter", tested(path, candidate, false), &scanned);
        Some(node.naming("Relation name", table).with(key.into_iter().chain(filter)))
    }

    fn aggregate(&self, node: &Aggregate) -> PlanNode {
        let cols = &node.input.cols;
        let call = |call: &crate::plan::Call| {
            let name = builtins::function(call.func).map_or("?", |function| function.name);
            let args = if call.args.is_empty() { "*".to_owned() } else { self.names(cols, &call.args) };
            format!("{name}({}{args})", if call.distinct { "DISTINCT " } else { "" })
        };
        let calls: Vec<String> = node.calls.iter().map(call).collect();
        let by = (!node.keys.is_empty()).then(|| Property::new("By", self.names(cols, &node.keys)));
        let of = (!calls.is_empty()).then(|| Property::new("Of", calls.join(", ")));
        PlanNode::of(if node.keys.is_empty() { "Aggregate" } else { "Group" }).with(by.into_iter().chain(of))
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
        format!("{count}{offset}")
    }

    /// The conditions in one line.
    fn all<'e>(
        &self,
        label: &str,
        conditions: impl IntoIterator<Item = &'e RowExpr>,
        cols: &[ColId],
    ) -> Option<Property> {
        let texts: Vec<String> = conditions.into_iter().map(|condition| self.operand(condition, cols)).collect();
        (!texts.is_empty()).then(|| Property::new(label, texts.join(" AND ")))
    }
}

/// A scan with its access path.
fn scanned(candidate: &AccessPath, other: Option<&AccessPath>, ranges: Option<&KeyRanges>, table: &str) -> PlanNode {
    let back = if candidate.direction == Direction::Reverse { " (backward)" } else { "" };
    let access = ranges.map(|ranges| ranges.access);
    let node = match index_name(candidate) {
        Some(index) if access != Some(Access::Empty) => {
            let and = other.and_then(index_name).map_or_else(String::new, |other| format!(" and {other}"));
            let (kind, indexes) = match candidate.scanned {
                Scanned::Covering(..) => ("Index only scan", index.to_owned()),
                _ => ("Index scan", format!("{index}{and}")),
            };
            let title = format!("{kind} using {indexes} on {table}{back}");
            PlanNode::of(kind).titled(title).naming("Index name", indexes)
        }
        _ => {
            let (kind, on) = match access {
                Some(Access::Empty) => ("No rows", "of"),
                Some(Access::Points(_)) => ("Point lookup", "on"),
                Some(Access::SkipScan) => ("Skip scan", "on"),
                Some(Access::Full) => ("Full scan", "on"),
                None if candidate.width() == Width::Points => ("Point lookup", "on"),
                Some(Access::Range) | None => ("Range scan", "on"),
            };
            PlanNode::of(kind).titled(format!("{kind} {on} {table}{back}"))
        }
    };
    let node = node.naming("Relation name", table);
    if back.is_empty() { node } else { node.naming("Scan direction", "Backward") }
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
fn range_lines(candidate: &AccessPath, ranges: &KeyRanges) -> Vec<Property> {
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
    let mut lines = vec![Property::new(format!("{of} ranges"), texts.join(", "))];
    if let (Some(buckets), Some(all)) = (&ranges.buckets, schema.salt_buckets) {
        let merged = buckets.len() > 1 && candidate.direction != Direction::Any;
        let how = if merged { ", merged in key order" } else { "" };
        lines.push(Property::new("Salt buckets", format!("{} of {all}{how}", buckets.len())));
    }
    lines
}

fn kind(matching: Matching) -> &'static str {
    match matching {
        Matching::Inner => "inner",
        Matching::Left => "left",
        Matching::Semi => "semi",
        Matching::Anti => "anti",
        Matching::Mark => "mark",
    }
}
