//! Types of parameters: what the client says, then what they meet, then text.

use crate::convert::{arrow_type, field, sql_type_of};
use crate::error::{QueryError, QueryResult};
use arrow::datatypes::FieldRef;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::DataType;

/// Types by number, counted from 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Parameters {
    types: Vec<Option<DataType>>,
}

impl Parameters {
    /// `count` parameters, of which the client has typed some.
    pub(super) fn new(count: usize, given: &[Option<DataType>]) -> Self {
        let types = (0..count.max(given.len())).map(|number| given.get(number).copied().flatten()).collect();
        Self { types }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// In the planner's form.
    pub(super) fn fields(&self) -> Vec<Option<FieldRef>> {
        self.types.iter().map(|ty| ty.as_ref().map(|ty| Arc::new(field("", ty, true)))).collect()
    }

    /// Is there one without a type?
    pub(super) fn incomplete(&self) -> bool {
        self.types.iter().any(Option::is_none)
    }

    /// Takes over what a plan made of those without a type; what it says nothing about is text.
    ///
    /// # Errors
    /// [`QueryError::ParameterConflict`].
    pub(super) fn infer(&mut self, plan: &LogicalPlan) -> QueryResult<()> {
        let mut found = BTreeMap::new();
        let mut conflict = None;
        collect(plan, &mut |number, ty| {
            let before = found.insert(number, ty);
            if let Some(before) = before
                && arrow_type(&before) != arrow_type(&ty)
            {
                match wider(before, ty) {
                    Some(wider) => {
                        found.insert(number, wider);
                    }
                    None => conflict = Some((number, before, ty)),
                }
            }
        })?;
        if let Some((number, first, second)) = conflict.filter(|(number, ..)| self.is_open(*number)) {
            let types = (first.sql_name(), second.sql_name());
            return Err(QueryError::ParameterConflict { number: number + 1, types });
        }
        for (number, ty) in self.types.iter_mut().enumerate() {
            if ty.is_none() {
                *ty = Some(found.get(&number).copied().unwrap_or(DataType::Text));
            }
        }
        Ok(())
    }

    fn is_open(&self, number: usize) -> bool {
        self.types.get(number).is_some_and(Option::is_none)
    }

    /// All of them; only after [`Self::infer`] or when the client gave all.
    pub(super) fn types(&self) -> Vec<DataType> {
        self.types.iter().map(|ty| ty.unwrap_or(DataType::Text)).collect()
    }
}

/// Of two number types the one that holds both.
fn wider(a: DataType, b: DataType) -> Option<DataType> {
    const ORDER: [DataType; 6] = [
        DataType::SmallInt,
        DataType::Integer,
        DataType::BigInt,
        DataType::Numeric(None),
        DataType::Real,
        DataType::Double,
    ];
    let rank = |ty: DataType| {
        let plain = match ty {
            DataType::Numeric(_) => DataType::Numeric(None),
            DataType::Oid => DataType::BigInt,
            other => other,
        };
        ORDER.iter().position(|candidate| *candidate == plain)
    };
    ORDER.get(rank(a)?.max(rank(b)?)).copied()
}

/// The number of a parameter, from 0; `None` for those that stand for functions of the session.
pub(super) fn number_of(placeholder: &Placeholder) -> Option<usize> {
    placeholder.id.strip_prefix('$')?.parse::<usize>().ok()?.checked_sub(1)
}

/// Calls `typed` for each parameter whose type the plan tells.
fn collect(plan: &LogicalPlan, typed: &mut dyn FnMut(usize, DataType)) -> Result<()> {
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::Limit(limit) = node {
            for bound in [&limit.skip, &limit.fetch].into_iter().flatten() {
                if let Expr::Placeholder(placeholder) = bound.as_ref()
                    && let Some(number) = number_of(placeholder)
                {
                    typed(number, DataType::BigInt);
                }
            }
        }
        node.apply_expressions(|expr| {
            expr.apply(|inner| {
                visit(inner, typed);
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(())
}

fn visit(expr: &Expr, typed: &mut dyn FnMut(usize, DataType)) {
    match expr {
        Expr::Placeholder(Placeholder { field: Some(field), .. }) => report(expr, sql_type_of(field), typed),
        Expr::Cast(cast) => report(&cast.expr, sql_type_of(&cast.field), typed),
        Expr::ScalarFunction(call) if matches!(call.func.name(), "coalesce" | "nullif" | "greatest" | "least") => {
            let known = call.args.iter().find_map(type_without_columns);
            call.args.iter().for_each(|arg| report(arg, known, typed));
        }
        _ => {}
    }
}

/// The type of an expression that needs no columns to tell it.
fn type_without_columns(expr: &Expr) -> Option<DataType> {
    if matches!(expr, Expr::Placeholder(Placeholder { field: None, .. })) {
        return None;
    }
    let (_, field) = expr.to_field(&DFSchema::empty()).ok()?;
    (!field.data_type().is_null()).then(|| sql_type_of(&field)).flatten()
}

/// Reports `ty` if `expr` is a parameter.
fn report(expr: &Expr, ty: Option<DataType>, typed: &mut dyn FnMut(usize, DataType)) {
    if let (Expr::Placeholder(placeholder), Some(ty)) = (expr, ty)
        && let Some(number) = number_of(placeholder)
    {
        // A cast to varchar(3) or timestamp(3) cuts its input, so the input may be longer.
        typed(number, if ty.is_text() { DataType::Text } else { ty.unlimited() });
    }
}
