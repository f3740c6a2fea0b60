//! The table of functions with their bodies, by oid and by name, and of operators and casts.

use crate::bodies;
use crate::lists::{Operator, Routine, casts, operator_routines, operators, routines};
use crate::{FuncId, Function, Kind, TypeId, Volatility};
use std::collections::HashMap;
use std::sync::LazyLock;

struct Table {
    /// Sorted by oid.
    functions: Vec<Function>,
    /// Indexes of the functions that can be called by name.
    named: HashMap<&'static str, Vec<usize>>,
    operators: HashMap<&'static str, Vec<&'static Operator>>,
    casts: HashMap<(TypeId, TypeId), Cast>,
}

/// A row of `pg_cast`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cast {
    /// The first context that allows it.
    pub context: CastContext,
    /// How it casts.
    pub method: CastMethod,
}

/// What requests a cast; a later context allows all casts of an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CastContext {
    /// The rules of an operator, function or set operation.
    Implicit,
    /// An assignment to a column.
    Assignment,
    /// The statement.
    Explicit,
}

/// How a cast of `pg_cast` is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastMethod {
    /// By a function of the table.
    Function(FuncId),
    /// The value is unchanged.
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

/// Returns the function of that oid, including functions of operators.
pub fn function(id: FuncId) -> Option<&'static Function> {
    let functions = &TABLE.functions;
    functions.binary_search_by_key(&id, |function| function.id).ok().and_then(|place| functions.get(place))
}

/// Returns the functions that a call by that name can mean.
pub fn functions_named(name: &str) -> impl Iterator<Item = &'static Function> {
    let places = TABLE.named.get(name).map(Vec::as_slice).unwrap_or_default();
    places.iter().filter_map(|place| TABLE.functions.get(*place))
}

/// Returns all functions, by oid.
pub fn functions() -> &'static [Function] {
    &TABLE.functions
}

/// Returns the prefix and binary operators of that name.
pub fn operators_named(name: &str) -> &'static [&'static Operator] {
    TABLE.operators.get(name).map(Vec::as_slice).unwrap_or_default()
}

/// Returns the operator that a function computes.
pub fn operator_of(function: FuncId) -> Option<&'static Operator> {
    operators().iter().find(|operator| operator.function == function.0)
}

/// Returns the cast from one type to another. A cast of a type to itself applies its modifiers.
pub fn cast(from: TypeId, to: TypeId) -> Option<Cast> {
    TABLE.casts.get(&(from, to)).copied()
}
