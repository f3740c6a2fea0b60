//! Rows of `pg_operator` and `pg_cast`.

use std::sync::LazyLock;

/// A row of `pg_operator`.
#[derive(Debug)]
pub struct Operator {
    /// Its oid.
    pub oid: u32,
    /// Its name, such as `=`.
    pub name: &'static str,
    /// `b` for a binary operator, `l` for a prefix operator.
    pub kind: &'static str,
    /// Whether it can order a merge join.
    pub merges: bool,
    /// Whether it can be the condition of a hash join.
    pub hashes: bool,
    /// Type of the left operand, 0 for a prefix operator.
    pub left: u32,
    /// Type of the right operand.
    pub right: u32,
    /// Type of the result.
    pub result: u32,
    /// Its commutator, or 0.
    pub commutator: u32,
    /// Its negator, or 0.
    pub negator: u32,
    /// The function that computes it, as `oprcode`.
    pub function: u32,
}

/// A row of `pg_cast`.
#[derive(Debug)]
pub struct Cast {
    /// Its oid.
    pub oid: u32,
    /// Source type.
    pub source: u32,
    /// Target type.
    pub target: u32,
    /// The function that computes it, or 0.
    pub function: u32,
    /// `e` explicit, `a` in assignments, `i` everywhere.
    pub context: &'static str,
    /// `f` by a function, `b` binary-coercible, `i` through text.
    pub method: &'static str,
}

static OPERATORS: LazyLock<Vec<Operator>> =
    LazyLock::new(|| include_str!("../data/operators.txt").lines().filter_map(operator).collect());

static CASTS: LazyLock<Vec<Cast>> =
    LazyLock::new(|| include_str!("../data/casts.txt").lines().filter_map(cast).collect());

/// Returns all operators, by oid.
pub fn operators() -> &'static [Operator] {
    &OPERATORS
}

/// Returns all casts, by oid.
pub fn casts() -> &'static [Cast] {
    &CASTS
}

fn operator(line: &'static str) -> Option<Operator> {
    let mut words = line.split(' ');
    let (oid, name, flags) = (words.next()?.parse().ok()?, words.next()?, words.next()?);
    let mut oids = words.map(str::parse);
    let mut next = || oids.next()?.ok();
    Some(Operator {
        oid,
        name,
        kind: flags.get(..1)?,
        merges: flags.contains('m'),
        hashes: flags.contains('h'),
        left: next()?,
        right: next()?,
        result: next()?,
        commutator: next()?,
        negator: next()?,
        function: next()?,
    })
}

fn cast(line: &'static str) -> Option<Cast> {
    let mut words = line.split(' ');
    let mut next = || words.next()?.parse().ok();
    let (oid, source, target, function) = (next()?, next()?, next()?, next()?);
    Some(Cast { oid, source, target, function, context: words.next()?, method: words.next()? })
}

#[cfg(test)]
mod tests {
    use super::super::routine_by_oid;
    use super::*;

    #[test]
    fn every_line_is_read_and_casts_have_their_functions() {
        assert_eq!(operators().len(), include_str!("../data/operators.txt").lines().count());
        assert_eq!(casts().len(), include_str!("../data/casts.txt").lines().count());
        for cast in casts().iter().filter(|cast| cast.function != 0) {
            assert!(routine_by_oid(cast.function).is_some(), "{cast:?}");
        }
        for operator in operators() {
            assert!(routine_by_oid(operator.function).is_some(), "{operator:?}");
        }
    }
}
