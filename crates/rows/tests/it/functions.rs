//! A small set of functions. With `plain` no function is known as a predicate, so no condition becomes a key range.

use builtins::{Accumulator, EvalError, FuncId, Function, Kind, Ty, TypeId, Volatility};
use rows::{Functions, OutsideBody, Test};
use std::collections::BTreeMap;
use types::{CompareOp, Datum, compare};

pub const EQ: FuncId = FuncId(1);
pub const NE: FuncId = FuncId(2);
pub const LT: FuncId = FuncId(3);
pub const LE: FuncId = FuncId(4);
pub const GT: FuncId = FuncId(5);
pub const GE: FuncId = FuncId(6);
pub const PLUS: FuncId = FuncId(7);
pub const DIVIDE: FuncId = FuncId(8);
pub const LIKE: FuncId = FuncId(9);
pub const SUM: FuncId = FuncId(20);
pub const COUNT: FuncId = FuncId(21);
pub const COLLECT: FuncId = FuncId(22);
/// A function that only DataFusion implements.
pub const NO_BODY: FuncId = FuncId(30);

pub const COMPARISONS: [(FuncId, CompareOp); 6] = [
    (EQ, CompareOp::Eq),
    (NE, CompareOp::Ne),
    (LT, CompareOp::Lt),
    (LE, CompareOp::Le),
    (GT, CompareOp::Gt),
    (GE, CompareOp::Ge),
];

pub struct Table {
    plain: bool,
    lines: BTreeMap<FuncId, Function>,
}

fn ordered(args: &[Datum], holds: fn(std::cmp::Ordering) -> bool) -> Result<Datum, EvalError> {
    Ok(Datum::Bool(holds(compare::compare(&args[0], &args[1]))))
}

impl Table {
    pub fn new(plain: bool) -> Self {
        let mut lines = BTreeMap::new();
        let mut add = |id: FuncId, kind: Kind, strict: bool, body: Option<builtins::Body>| {
            let name = "test";
            let (volatility, returns) = (Volatility::Immutable, TypeId(23));
            let args = Vec::new();
            lines.insert(
                id,
                Function {
                    id,
                    name,
                    kind,
                    volatility,
                    strict,
                    returns_set: false,
                    args,
                    variadic: None,
                    defaults: 0,
                    direct: None,
                    returns,
                    body,
                },
            );
        };
        add(EQ, Kind::Scalar, true, Some(|_, args| ordered(args, |order| order.is_eq())));
        add(NE, Kind::Scalar, true, Some(|_, args| ordered(args, |order| order.is_ne())));
        add(LT, Kind::Scalar, true, Some(|_, args| ordered(args, |order| order.is_lt())));
        add(LE, Kind::Scalar, true, Some(|_, args| ordered(args, |order| order.is_le())));
        add(GT, Kind::Scalar, true, Some(|_, args| ordered(args, |order| order.is_gt())));
        add(GE, Kind::Scalar, true, Some(|_, args| ordered(args, |order| order.is_ge())));
        add(PLUS, Kind::Scalar, true, Some(|_, args| number(args, i64::checked_add)));
        add(
            DIVIDE,
            Kind::Scalar,
            true,
            Some(|_, args| {
                if args[1].as_i64() == Some(0) {
                    Err(EvalError::DivisionByZero)
                } else {
                    number(args, i64::checked_div)
                }
            }),
        );
        add(LIKE, Kind::Scalar, true, Some(|_, args| like(args)));
        add(SUM, Kind::Aggregate, true, None);
        add(COUNT, Kind::Aggregate, true, None);
        add(COLLECT, Kind::Aggregate, false, None);
        add(NO_BODY, Kind::Scalar, true, None);
        Self { plain, lines }
    }
}

fn number(args: &[Datum], of: fn(i64, i64) -> Option<i64>) -> Result<Datum, EvalError> {
    let (a, b) = (args[0].as_i64().unwrap(), args[1].as_i64().unwrap());
    let value = of(a, b).and_then(|value| i32::try_from(value).ok());
    value.map(Datum::Int4).ok_or(EvalError::OutOfRange { what: "integer".to_owned() })
}

/// Supports `%` at the end of a pattern only, which suffices for the tests.
fn like(args: &[Datum]) -> Result<Datum, EvalError> {
    let (Datum::Text(text), Datum::Text(pattern)) = (&args[0], &args[1]) else { panic!("{args:?}") };
    Ok(Datum::Bool(match pattern.strip_suffix('%') {
        Some(prefix) => text.starts_with(prefix),
        None => text == pattern,
    }))
}

impl Functions for Table {
    fn function(&self, id: FuncId) -> Option<&Function> {
        self.lines.get(&id)
    }

    fn outside(&self, _: FuncId, _: &[Ty], _: Ty) -> Option<OutsideBody> {
        None
    }

    fn test(&self, id: FuncId) -> Option<Test> {
        if self.plain {
            return None;
        }
        match COMPARISONS.iter().find(|(func, _)| *func == id) {
            Some((_, op)) => Some(Test::Compare(*op)),
            None => (id == LIKE).then_some(Test::Like),
        }
    }

    fn accumulator(&self, id: FuncId) -> Option<Box<dyn Accumulator>> {
        match id {
            SUM => Some(Box::new(Sum(None))),
            COUNT => Some(Box::new(Count(0))),
            COLLECT => Some(Box::new(Collect(Vec::new()))),
            _ => None,
        }
    }
}

struct Sum(Option<i64>);
struct Count(i64);
struct Collect(Vec<Datum>);

impl Accumulator for Sum {
    fn add(&mut self, args: &[Datum]) -> Result<(), EvalError> {
        if let Some(value) = args[0].as_i64() {
            self.0 = Some(self.0.unwrap_or(0) + value);
        }
        Ok(())
    }
    fn finish(&mut self) -> Result<Datum, EvalError> {
        Ok(self.0.map_or(Datum::Null, Datum::Int8))
    }
    fn held_bytes(&self) -> usize {
        0
    }
}

impl Accumulator for Count {
    fn add(&mut self, args: &[Datum]) -> Result<(), EvalError> {
        self.0 += i64::from(!args.iter().any(Datum::is_null));
        Ok(())
    }
    fn finish(&mut self) -> Result<Datum, EvalError> {
        Ok(Datum::Int8(self.0))
    }
    fn held_bytes(&self) -> usize {
        0
    }
}

impl Accumulator for Collect {
    fn add(&mut self, args: &[Datum]) -> Result<(), EvalError> {
        self.0.push(args[0].clone());
        Ok(())
    }
    fn finish(&mut self) -> Result<Datum, EvalError> {
        Ok(Datum::Array(std::mem::take(&mut self.0)))
    }
    fn held_bytes(&self) -> usize {
        self.0.len() * size_of::<Datum>()
    }
}
