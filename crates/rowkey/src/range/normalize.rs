//! Converts conditions to boxes: a disjunction of boxes, each of them a conjunction of one set per part.
//!
//! SQL's three-valued logic needs no third value here: without NOT, unknown is equivalent to false. If a condition
//! cannot be expressed or would need too many boxes, the boxes are enlarged and the condition is not exact.

use super::bound;
use super::condition::Condition;
use super::interval::{Interval, PartSet};
use crate::KeySchema;
use std::collections::BTreeMap;
use types::{CompareOp, Datum};

/// Parts from this one on are never restricted: part masks are 128 bits wide.
const MAX_PARTS: usize = 128;

/// Maximum number of gaps between excluded values of a single-part key that become ranges.
const MOST_ROW_GAPS: usize = 1_000;

/// One set per part.
#[derive(Clone, Debug)]
pub(crate) struct KeyBox {
    pub(crate) sets: Vec<PartSet>,
}

impl KeyBox {
    fn all(schema: &KeySchema) -> Self {
        Self { sets: vec![PartSet::All; schema.parts.len()] }
    }

    fn is_nothing(&self) -> bool {
        self.sets.iter().any(PartSet::is_nothing)
    }

    fn intersect(&self, other: &Self) -> Option<Self> {
        let mut sets = Vec::with_capacity(self.sets.len());
        for (a, b) in self.sets.iter().zip(&other.sets) {
            let set = a.intersect(b);
            if set.is_nothing() {
                return None;
            }
            sets.push(set);
        }
        Some(Self { sets })
    }

    /// The intersection of all boxes.
    fn common(schema: &KeySchema, boxes: Vec<Self>) -> Option<Self> {
        let mut by_part: Vec<Vec<PartSet>> = vec![Vec::new(); schema.parts.len()];
        for key_box in boxes {
            for (sets, set) in by_part.iter_mut().zip(key_box.sets) {
                if !set.is_all() {
                    sets.push(set);
                }
            }
        }
        let common = Self { sets: by_part.into_iter().map(PartSet::intersection).collect() };
        (!common.is_nothing()).then_some(common)
    }

    /// Bit i is set if part i is restricted.
    fn mask(&self) -> u128 {
        self.sets
            .iter()
            .enumerate()
            .fold(0, |mask, (part, set)| mask | (u128::from(!set.is_all()) << (part % MAX_PARTS)))
    }
}

/// A box of the whole conjunction, with the conditions of several boxes that it includes.
#[derive(Clone, Debug)]
pub(crate) struct ConjunctionBox {
    pub(crate) key_box: KeyBox,
    /// Numbers of these conditions, each with the parts that it restricts in this box: the condition is exact if the
    /// ranges restrict all of these parts.
    pub(crate) masks: Vec<(usize, u128)>,
}

/// The boxes of a list of conditions, and whether they express each condition exactly.
#[derive(Debug)]
pub(crate) struct Conjunction {
    pub(crate) boxes: Vec<ConjunctionBox>,
    pub(crate) exact: Vec<bool>,
    /// For each condition with a single box, the parts that it restricts in all boxes.
    pub(crate) masks: Vec<u128>,
}

/// A disjunction of boxes.
struct Disjunction {
    boxes: Vec<KeyBox>,
    exact: bool,
}

/// Converts the conditions to boxes, with at most `max_boxes` per product.
pub(crate) fn conjunction(schema: &KeySchema, conditions: &[Condition], max_boxes: usize) -> Conjunction {
    let builder = Builder { schema, max_boxes };
    let mut parts: Vec<(usize, Disjunction)> =
        conditions.iter().map(|condition| builder.disjunction(condition)).enumerate().collect();
    // Small disjunctions first: they reduce the others before multiplication.
    parts.sort_by_key(|(_, disjunction)| disjunction.boxes.len());
    let several = parts.split_off(parts.partition_point(|(_, disjunction)| disjunction.boxes.len() <= 1));
    let mut all =
        Conjunction { boxes: Vec::new(), exact: vec![true; conditions.len()], masks: vec![0; conditions.len()] };
    let key_box = all.common(schema, parts);
    all.boxes.extend(key_box.map(|key_box| ConjunctionBox { key_box, masks: Vec::new() }));
    for (index, disjunction) in several {
        let fits = builder.may_multiply(all.boxes.len(), disjunction.boxes.len());
        if let Some(flag) = all.exact.get_mut(index) {
            *flag = disjunction.exact && fits;
        }
        if fits {
            all.boxes = multiply(&all.boxes, &disjunction.boxes, index);
        }
    }
    all
}

impl Conjunction {
    /// The intersection of the boxes of these conditions, each of which has at most one box.
    fn common(&mut self, schema: &KeySchema, parts: Vec<(usize, Disjunction)>) -> Option<KeyBox> {
        let mut boxes = Vec::with_capacity(parts.len());
        for (index, disjunction) in parts {
            let key_box = disjunction.boxes.into_iter().next()?;
            if let (Some(flag), Some(mask)) = (self.exact.get_mut(index), self.masks.get_mut(index)) {
                (*flag, *mask) = (disjunction.exact, key_box.mask());
            }
            boxes.push(key_box);
        }
        KeyBox::common(schema, boxes)
    }
}

fn multiply(boxes: &[ConjunctionBox], others: &[KeyBox], condition: usize) -> Vec<ConjunctionBox> {
    let pairs = boxes.iter().flat_map(|left| others.iter().map(move |right| (left, right)));
    pairs
        .filter_map(|(left, right)| {
            let key_box = left.key_box.intersect(right)?;
            let mut masks = left.masks.clone();
            masks.push((condition, right.mask()));
            Some(ConjunctionBox { key_box, masks })
        })
        .collect()
}

struct Builder<'a> {
    schema: &'a KeySchema,
    max_boxes: usize,
}

impl Builder<'_> {
    /// A product with a single box does not grow.
    fn may_multiply(&self, left: usize, right: usize) -> bool {
        left <= 1 || right <= 1 || left.saturating_mul(right) <= self.max_boxes
    }

    fn disjunction(&self, condition: &Condition) -> Disjunction {
        match condition {
            Condition::And(all) => self.and(all),
            Condition::Or(any) => self.or(any),
            Condition::Compare { part, op, value } => self.compare(*part, *op, value),
            Condition::In { part, values } => self.in_list(*part, values),
            Condition::IsNull { part, negated } => match self.schema.parts.get(*part) {
                Some(key_part) => self.restrict(*part, bound::is_null(key_part, *negated), true),
                None => self.unknown(),
            },
            Condition::Prefix { part, prefix } => {
                let set = self.schema.parts.get(*part).and_then(|key_part| bound::prefix(key_part, prefix));
                set.map_or_else(|| self.unknown(), |(set, exact)| self.restrict(*part, set, exact))
            }
            Condition::RowCompare { parts, op, values } => self.row_compare(parts, *op, values),
            Condition::RowIn { parts, rows } => self.row_in(parts, rows),
            Condition::Unknown => self.unknown(),
            Condition::False => Disjunction { boxes: Vec::new(), exact: true },
        }
    }

    fn unknown(&self) -> Disjunction {
        Disjunction { boxes: vec![KeyBox::all(self.schema)], exact: false }
    }

    fn restrict(&self, part: usize, set: PartSet, exact: bool) -> Disjunction {
        let mut key_box = KeyBox::all(self.schema);
        match key_box.sets.get_mut(part) {
            Some(slot) if part < MAX_PARTS => *slot = set,
            _ => return self.unknown(),
        }
        let boxes = if key_box.is_nothing() { Vec::new() } else { vec![key_box] };
        Disjunction { boxes, exact }
    }

    fn compare(&self, part: usize, op: CompareOp, value: &Datum) -> Disjunction {
        let set = self.schema.parts.get(part).and_then(|key_part| bound::comparison(key_part, op, value));
        set.map_or_else(|| self.unknown(), |set| self.restrict(part, set, true))
    }

    fn in_list(&self, part: usize, values: &[Datum]) -> Disjunction {
        let Some(key_part) = self.schema.parts.get(part) else { return self.unknown() };
        let mut intervals = Vec::with_capacity(values.len());
        for value in values {
            match bound::comparison(key_part, CompareOp::Eq, value) {
                Some(PartSet::Within(set)) => intervals.extend(set),
                _ => return self.unknown(),
            }
        }
        self.restrict(part, PartSet::of(intervals), true)
    }

    fn and(&self, all: &[Condition]) -> Disjunction {
        let mut factors = self.factors(all);
        factors.sort_by_key(|factor| factor.boxes.len());
        let several = factors.split_off(factors.partition_point(|factor| factor.boxes.len() <= 1));
        let mut product = Disjunction { boxes: Vec::new(), exact: factors.iter().all(|factor| factor.exact) };
        let single: Option<Vec<KeyBox>> = factors.into_iter().map(|factor| factor.boxes.into_iter().next()).collect();
        product.boxes.extend(single.and_then(|boxes| KeyBox::common(self.schema, boxes)));
        for factor in several {
            let fits = self.may_multiply(product.boxes.len(), factor.boxes.len());
            product.exact &= factor.exact && fits;
            if fits {
                let pairs = product.boxes.iter().flat_map(|left| factor.boxes.iter().map(move |right| (left, right)));
                product.boxes = pairs.filter_map(|(left, right)| left.intersect(right)).collect();
            }
        }
        product
    }

    /// The factors of a conjunction; all `<>` comparisons of one part are one factor, as in NOT IN.
    fn factors(&self, all: &[Condition]) -> Vec<Disjunction> {
        let mut excluded: BTreeMap<usize, Vec<&Datum>> = BTreeMap::new();
        let mut factors = Vec::with_capacity(all.len().min(64));
        for condition in all {
            match condition {
                Condition::Compare { part, op: CompareOp::Ne, value } => excluded.entry(*part).or_default().push(value),
                other => factors.push(self.disjunction(other)),
            }
        }
        factors.extend(excluded.iter().map(|(part, values)| self.unequal(*part, values)));
        factors
    }

    /// `part NOT IN (values)`: the gaps between the values, or if there are too many gaps, one interval around all of
    /// them.
    fn unequal(&self, part: usize, values: &[&Datum]) -> Disjunction {
        let Some(key_part) = self.schema.parts.get(part) else { return self.unknown() };
        let (mut points, mut exact) = (Vec::with_capacity(values.len()), true);
        for value in values {
            match bound::comparison(key_part, CompareOp::Eq, value) {
                _ if value.is_null() => return self.restrict(part, PartSet::NOTHING, true),
                Some(PartSet::Within(point)) => points.extend(point),
                _ => exact = false,
            }
        }
        if points.is_empty() && !exact {
            return self.unknown();
        }
        let mut gaps = bound::gaps(key_part, points);
        if gaps.len() > self.most_gaps() {
            gaps = Interval::around(gaps).into_iter().collect();
            exact = false;
        }
        self.restrict(part, PartSet::of(gaps), exact)
    }

    /// The maximum number of gaps that become ranges. An excluded value of a single-part key skips one row, and reading
    /// a row is cheaper than another range.
    fn most_gaps(&self) -> usize {
        let fitting = (self.max_boxes / usize::from(self.schema.salt_buckets.unwrap_or(1))).max(1);
        if self.schema.parts.len() == 1 { fitting.min(MOST_ROW_GAPS) } else { fitting }
    }

    fn or(&self, any: &[Condition]) -> Disjunction {
        let mut sum = Disjunction { boxes: Vec::new(), exact: true };
        for condition in any {
            let term = self.disjunction(condition);
            sum.exact &= term.exact;
            sum.boxes.extend(term.boxes);
        }
        if sum.boxes.iter().any(|key_box| key_box.mask() == 0) {
            return Disjunction { boxes: vec![KeyBox::all(self.schema)], exact: sum.exact };
        }
        sum.boxes = unite_same_part(sum.boxes);
        sum
    }

    /// `(a, b) < (1, 2)` is `a < 1 OR a = 1 AND b < 2`; `<>` is a disjunction over the parts.
    fn row_compare(&self, parts: &[usize], op: CompareOp, values: &[Datum]) -> Disjunction {
        if parts.len() != values.len() || parts.is_empty() {
            return self.unknown();
        }
        let compare =
            |(part, value): (&usize, &Datum), op| Condition::Compare { part: *part, op, value: value.clone() };
        let pairs = || parts.iter().zip(values);
        match op {
            CompareOp::Eq => self.row_equal(parts, values),
            CompareOp::Ne => self.or(&pairs().map(|pair| compare(pair, op)).collect::<Vec<_>>()),
            _ => {
                let strict = if matches!(op, CompareOp::Lt | CompareOp::Le) { CompareOp::Lt } else { CompareOp::Gt };
                let terms = pairs().enumerate().map(|(index, pair)| {
                    let last = index + 1 == parts.len();
                    let mut all: Vec<_> = pairs().take(index).map(|pair| compare(pair, CompareOp::Eq)).collect();
                    all.push(compare(pair, if last { op } else { strict }));
                    Condition::And(all)
                });
                self.or(&terms.collect::<Vec<_>>())
            }
        }
    }

    fn row_in(&self, parts: &[usize], rows: &[Vec<Datum>]) -> Disjunction {
        let mut sum = Disjunction { boxes: Vec::with_capacity(rows.len()), exact: true };
        for row in rows {
            let term = self.row_compare(parts, CompareOp::Eq, row);
            sum.exact &= term.exact;
            sum.boxes.extend(term.boxes);
        }
        sum
    }

    fn row_equal(&self, parts: &[usize], values: &[Datum]) -> Disjunction {
        let (mut key_box, mut exact) = (KeyBox::all(self.schema), true);
        for (part, value) in parts.iter().zip(values) {
            let own = self.schema.parts.get(*part).filter(|_| *part < MAX_PARTS);
            let set = own.and_then(|own| bound::comparison(own, CompareOp::Eq, value));
            match (key_box.sets.get_mut(*part), set) {
                (Some(slot), Some(set)) => *slot = slot.intersect(&set),
                _ => exact = false,
            }
        }
        let boxes = if key_box.is_nothing() { Vec::new() } else { vec![key_box] };
        Disjunction { boxes, exact }
    }
}

/// `a = 1 OR a = 2 OR b = 3`: merges the boxes that restrict only the same single part.
fn unite_same_part(boxes: Vec<KeyBox>) -> Vec<KeyBox> {
    let mut united: Vec<KeyBox> = Vec::with_capacity(boxes.len());
    let mut by_part: BTreeMap<u128, Vec<KeyBox>> = BTreeMap::new();
    for key_box in boxes {
        let mask = key_box.mask();
        match mask.count_ones() {
            1 => by_part.entry(mask).or_default().push(key_box),
            _ => united.push(key_box),
        }
    }
    united.extend(by_part.into_values().filter_map(unite));
    united
}

/// All boxes leave the other parts unrestricted, and so does their union.
fn unite(boxes: Vec<KeyBox>) -> Option<KeyBox> {
    let mut by_part: Vec<Vec<PartSet>> = vec![Vec::new(); boxes.first()?.sets.len()];
    for key_box in boxes {
        by_part.iter_mut().zip(key_box.sets).for_each(|(sets, set)| sets.push(set));
    }
    Some(KeyBox { sets: by_part.into_iter().map(PartSet::union).collect() })
}
