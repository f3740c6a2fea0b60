//! Operators and casts of the lists.

use std::sync::LazyLock;

/// A row of `pg_operator`.
#[derive(Debug)]
pub(crate) struct Operator {
    pub(crate) oid: u32,
    pub(crate) name: &'static str,
    /// `b` between two values, `l` in front of one.
    pub(crate) kind: &'static str,
    pub(crate) merges: bool,
    pub(crate) hashes: bool,
    pub(crate) left: u32,
    pub(crate) right: u32,
    pub(crate) result: u32,
    pub(crate) commutator: u32,
    pub(crate) negator: u32,
}

/// A row of `pg_cast`.
#[derive(Debug)]
pub(crate) struct Cast {
    pub(crate) oid: u32,
    pub(crate) source: u32,
    pub(crate) target: u32,
    pub(crate) function: u32,
    /// `e` explicit, `a` in assignments, `i` everywhere.
    pub(crate) context: &'static str,
    /// `f` by a function, `b` the same bytes, `i` through text.
    pub(crate) method: &'static str,
}

static OPERATORS: LazyLock<Vec<Operator>> =
    LazyLock::new(|| include_str!("operators.txt").lines().filter_map(operator).collect());

static CASTS: LazyLock<Vec<Cast>> = LazyLock::new(|| include_str!("casts.txt").lines().filter_map(cast).collect());

/// All operators, by oid.
pub(crate) fn operators() -> &'static [Operator] {
    &OPERATORS
}

/// All casts, by oid.
pub(crate) fn casts() -> &'static [Cast] {
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
    use super::super::routines;
    use super::*;

    #[test]
    fn every_line_is_read_and_casts_have_their_functions() {
        assert_eq!(operators().len(), include_str!("operators.txt").lines().count());
        assert_eq!(casts().len(), include_str!("casts.txt").lines().count());
        for cast in casts().iter().filter(|cast| cast.function != 0) {
            assert!(routines().iter().any(|routine| routine.oid == cast.function), "{cast:?}");
        }
    }
}
