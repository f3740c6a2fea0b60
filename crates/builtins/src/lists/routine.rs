//! Rows of `pg_proc`.

use super::format_type;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A row of `pg_proc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routine {
    /// Its oid.
    pub oid: u32,
    /// Its name.
    pub name: String,
    /// `f` function, `a` aggregate, `w` window function.
    pub kind: char,
    /// `i` immutable, `s` stable, `v` volatile.
    pub volatility: char,
    /// `s` safe, `r` restricted, `u` unsafe.
    pub parallel: char,
    /// Whether a NULL argument gives NULL.
    pub strict: bool,
    /// Whether it returns a set of rows.
    pub returns_set: bool,
    /// Type of its result.
    pub result: u32,
    /// Types of its arguments.
    pub arguments: Vec<u32>,
    /// The type of the last arguments if there may be any number of them, else 0.
    pub variadic: u32,
    /// How many of the last arguments have defaults.
    pub defaults: usize,
    /// For an aggregate: `n` normal or `o` ordered-set, and the number of direct arguments, which stand outside of
    /// WITHIN GROUP.
    pub aggregate: (char, usize),
    /// The arguments with names and defaults, if there are any.
    pub shown: Option<&'static str>,
}

static BUILT_IN: LazyLock<Vec<Routine>> = LazyLock::new(|| {
    let lists = [include_str!("../data/functions.txt"), include_str!("../data/own.txt")];
    let mut all: Vec<Routine> = lists.iter().flat_map(|list| list.lines()).filter_map(Routine::read).collect();
    all.sort_by_key(|routine| routine.oid);
    all
});

static OPERATOR_ROUTINES: LazyLock<Vec<Routine>> = LazyLock::new(|| {
    let list = include_str!("../data/operator_functions.txt");
    list.lines().filter_map(Routine::read).collect()
});

/// Returns the functions of operators that are not among [`routines`], by oid: they have a name in PostgreSQL's
/// `pg_proc`, but no call resolves to them.
pub fn operator_routines() -> &'static [Routine] {
    &OPERATOR_ROUTINES
}

/// Returns the function of that oid.
pub fn routine_by_oid(oid: u32) -> Option<&'static Routine> {
    [routines(), operator_routines()]
        .into_iter()
        .find_map(|list| list.binary_search_by_key(&oid, |routine| routine.oid).ok().and_then(|place| list.get(place)))
}

/// Returns all functions that can be called by name, by oid.
pub fn routines() -> &'static [Routine] {
    &BUILT_IN
}

/// Indexes into the list, by name.
static BY_NAME: LazyLock<HashMap<&str, Vec<usize>>> = LazyLock::new(|| {
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, routine) in routines().iter().enumerate() {
        by_name.entry(&routine.name).or_default().push(place);
    }
    by_name
});

/// Returns the functions of that name.
pub fn routines_named(name: &str) -> impl Iterator<Item = &'static Routine> {
    let places = BY_NAME.get(name).map(Vec::as_slice).unwrap_or_default();
    places.iter().filter_map(|place| routines().get(*place))
}

impl Routine {
    /// Parses a row of a list; `None` for an invalid one.
    fn read(line: &'static str) -> Option<Self> {
        let (facts, shown) = line.split_once(" | ").map_or((line, None), |(facts, shown)| (facts, Some(shown)));
        let mut words = facts.split(' ');
        let (oid, name) = (words.next()?.parse().ok()?, words.next()?.to_owned());
        let mut flags = words.next()?.chars();
        let (kind, volatility, parallel) = (flags.next()?, flags.next()?, flags.next()?);
        let rest = flags.as_str();
        let result = words.next()?.parse().ok()?;
        let arguments = words.next().filter(|list| *list != "-").unwrap_or_default();
        let arguments = arguments.split(',').filter(|one| !one.is_empty()).map(|one| one.parse().ok());
        let mut routine = Self {
            oid,
            name,
            kind,
            volatility,
            parallel,
            strict: rest.contains('s'),
            returns_set: rest.contains('r'),
            result,
            arguments: arguments.collect::<Option<_>>()?,
            variadic: 0,
            defaults: 0,
            aggregate: ('n', 0),
            shown,
        };
        words.try_for_each(|word| routine.read_word(word))?;
        Some(routine)
    }

    fn read_word(&mut self, word: &str) -> Option<()> {
        let mut letters = word.chars();
        match letters.next()? {
            'v' => self.variadic = letters.as_str().parse().ok()?,
            'd' => self.defaults = letters.as_str().parse().ok()?,
            'k' => self.aggregate = (letters.next()?, letters.as_str().parse().ok()?),
            _ => return None,
        }
        Some(())
    }

    /// Returns the result type, as `pg_get_function_result()` shows it.
    pub fn result_text(&self) -> String {
        let result = format_type(self.result, None);
        if self.returns_set { format!("SETOF {result}") } else { result }
    }

    /// Returns the arguments with names and defaults.
    pub fn arguments_text(&self) -> String {
        self.shown.map_or_else(|| self.types_text(", "), str::to_owned)
    }

    /// Returns the arguments without defaults.
    pub fn identity_text(&self) -> String {
        let text = self.arguments_text();
        let bare = |part: &str| part.split_once(" DEFAULT ").map_or(part, |(before, _)| before).to_owned();
        text.split(", ").map(bare).collect::<Vec<_>>().join(", ")
    }

    /// Returns the argument types alone.
    pub fn types_text(&self, between: &str) -> String {
        self.arguments.iter().map(|ty| format_type(*ty, None)).collect::<Vec<_>>().join(between)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::lists::PgType;

    #[test]
    fn every_line_is_read_and_names_known_types() {
        let lines =
            include_str!("../data/functions.txt").lines().count() + include_str!("../data/own.txt").lines().count();
        assert_eq!(routines().len(), lines);
        assert_eq!(operator_routines().len(), include_str!("../data/operator_functions.txt").lines().count());
        assert!(operator_routines().is_sorted_by_key(|routine| routine.oid));
        assert!(routines().windows(2).all(|pair| matches!(pair, [a, b] if a.oid < b.oid)), "oids are used once");
        for routine in routines().iter().chain(operator_routines()) {
            for ty in routine.arguments.iter().chain([&routine.result]) {
                assert!(PgType::by_oid(*ty).is_some(), "{} has a type {ty}", routine.name);
            }
        }
    }

    #[test]
    fn arguments_are_shown_with_names_and_defaults() {
        let find = |name: &str| routines().iter().find(|routine| routine.name == name).unwrap();
        assert_eq!(find("parse_ident").arguments_text(), "str text, strict boolean DEFAULT true");
        assert_eq!(find("parse_ident").identity_text(), "str text, strict boolean");
        assert_eq!(find("concat_ws").arguments_text(), "text, VARIADIC \"any\"");
        assert_eq!(find("regexp_split_to_table").result_text(), "SETOF text");
    }
}
