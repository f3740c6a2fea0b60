//! The table: every function with its body, found by oid and by name; operators and casts by what they are asked for.

use crate::bodies;
use crate::lists::{Operator, Routine, casts, operator_routines, operators, routines};
use crate::{FuncId, Function, Kind, TypeId, Volatility};
use std::collections::HashMap;
use std::sync::LazyLock;

struct Table {
    /// By oid.
    functions: Vec<Function>,
    /// Places of those that can be called by name.
    named: HashMap<&'static str, Vec<usize>>,
    operators: HashMap<&'static str, Vec<&'static Operator>>,
    casts: HashMap<(TypeId, TypeId), Cast>,
}

/// A line of `pg_cast`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cast {
    /// Where it is applied unasked.
    pub context: CastContext,
    /// How.
    pub method: CastMethod,
}

/// Who asks for a cast; a later one may do all that an earlier may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CastContext {
    /// The rules of an operator, function or set operation.
    Implicit,
    /// A column that is assigned.
    Assignment,
    /// The statement.
    Explicit,
}

/// How a line of `pg_cast` casts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastMethod {
    /// By a function of the table.
    Function(FuncId),
    /// The value stays.
    Relabel,
    /// Through the text of the value.
    Text,
}

static TABLE: LazyLock<Table> = LazyLock::new(Table::new);

impl Table {
    fn new() -> Self {
        let callable = routines().iter().map(|routine| (routine, true));
        let behind_operators = operator_routines().iter().map(|routine| (routine, false));
        let mut lines: Vec<(&'static Routine, bool)> = callable.chain(behind_operators).collect();
        lines.sort_by_key(|(routine, _)| routine.oid);
        let mut named: HashMap<_, Vec<_>> = HashMap::new();
        for (place, (routine, _)) in lines.iter().enumerate().filter(|(_, (_, callable))| *callable) {
            named.entry(routine.name.as_str()).or_default().push(place);
        }
        let mut by_name: HashMap<_, Vec<_>> = HashMap::new();
        for operator in operators() {
            by_name.entry(operator.name).or_default().push(operator);
        }
        let functions = lines.into_iter().map(|(routine, _)| function_of(routine)).collect();
        Self { functions, named, operators: by_name, casts: casts().iter().map(cast_of).collect() }
    }
}

fn function_of(routine: &'static Routine) -> Function {
    Function {
        id: FuncId(routine.oid),
        name: &routine.name,
        kind: match routine.kind {
            'a' => Kind::Aggregate,
            'w' => Kind::Window,
            _ => Kind::Scalar,
        },
        volatility: match routine.volatility {
            'i' => Volatility::Immutable,
            's' => Volatility::Stable,
            _ => Volatility::Volatile,
        },
        strict: routine.strict,
        returns_set: routine.returns_set,
        args: routine.arguments.iter().copied().map(TypeId).collect(),
        variadic: (routine.variadic != 0).then_some(TypeId(routine.variadic)),
        defaults: routine.defaults,
        direct: (routine.aggregate.0 != 'n').then_some(routine.aggregate.1),
        returns: TypeId(routine.result),
        body: bodies::find(routine),
    }
}

fn cast_of(line: &crate::lists::Cast) -> ((TypeId, TypeId), Cast) {
    let context = match line.context {
        "i" => CastContext::Implicit,
        "a" => CastContext::Assignment,
        _ => CastContext::Explicit,
    };
    let method = match line.method {
        "f" => CastMethod::Function(FuncId(line.function)),
        "b" => CastMethod::Relabel,
        _ => CastMethod::Text,
    };
    ((TypeId(line.source), TypeId(line.target)), Cast { context, method })
}

/// The function of that oid, those behind operators included.
pub fn function(id: FuncId) -> Option<&'static Function> {
    let functions = &TABLE.functions;
    functions.binary_search_by_key(&id, |function| function.id).ok().and_then(|place| functions.get(place))
}

/// The functions that a call by that name may mean.
pub fn functions_named(name: &str) -> impl Iterator<Item = &'static Function> {
    let places = TABLE.named.get(name).map(Vec::as_slice).unwrap_or_default();
    places.iter().filter_map(|place| TABLE.functions.get(*place))
}

/// All functions, by oid.
pub fn functions() -> &'static [Function] {
    &TABLE.functions
}

/// The operators of that name, in front of a value and between two.
pub fn operators_named(name: &str) -> &'static [&'static Operator] {
    TABLE.operators.get(name).map(Vec::as_slice).unwrap_or_default()
}

/// The operator that a function is behind.
pub fn operator_of(function: FuncId) -> Option<&'static Operator> {
    operators().iter().find(|operator| operator.function == function.0)
}

/// The line of `pg_cast` from one type to another. One from a type to itself applies its modifiers.
pub fn cast(from: TypeId, to: TypeId) -> Option<Cast> {
    TABLE.casts.get(&(from, to)).copied()
}
