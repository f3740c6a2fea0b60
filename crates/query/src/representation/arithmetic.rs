//! Arithmetic fails on overflow instead of wrapping or going to infinity, and float division on zero. Numerics beside
//! floats become the floats next to them, as a cast that the query wrote would make them.

use crate::functions::{checked_arithmetic, checked_negative, postgres_cast};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{BinaryExpr, Cast, Expr, ExprSchemable, LogicalPlan, Operator};
use datafusion::optimizer::AnalyzerRule;
use types::DataType;

/// The rule. Runs when both sides of every operator have one type.
#[derive(Debug)]
pub(crate) struct IntegerArithmetic;

impl AnalyzerRule for IntegerArithmetic {
    fn name(&self) -> &str {
        "integer_arithmetic"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(check_node).data()
    }
}

fn check_node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let mut schema = merge_schema(&plan.inputs());
    if let LogicalPlan::TableScan(scan) = &plan {
        schema.merge(&DFSchema::try_from_qualified_schema(scan.table_name.clone(), &scan.source.schema())?);
    }
    let names = NamePreserver::new(&plan);
    plan.map_expressions(|expr| {
        let name = names.save(&expr);
        let checked = expr.transform_up(|expr| {
            let (left, op, right) = match expr {
                Expr::BinaryExpr(BinaryExpr { ref left, op, ref right }) => (left, op, right),
                Expr::Cast(ref cast) => {
                    return Ok(match nearest_float(cast, &schema) {
                        Some(float) => Transformed::yes(float),
                        None => Transformed::no(expr),
                    });
                }
                Expr::Negative(operand) => return Ok(Transformed::yes(negative(*operand, &schema))),
                expr => return Ok(Transformed::no(expr)),
            };
            let checked = match op {
                Operator::Plus | Operator::Minus | Operator::Multiply => {
                    both(left, right, &schema, |ty| ty.is_signed_integer() || ty.is_floating())
                }
                Operator::Divide => both(left, right, &schema, ArrowType::is_floating),
                _ => false,
            };
            if !checked {
                return Ok(Transformed::no(expr));
            }
            match checked_arithmetic(op, left.as_ref().clone(), right.as_ref().clone()) {
                Some(checked) => Ok(Transformed::yes(checked)),
                None => Ok(Transformed::no(expr)),
            }
        })?;
        Ok(checked.update_data(|expr| name.restore(expr)))
    })
}

/// Arrow divides a numeric's digits, of which not all have room in a double, by a power of ten.
fn nearest_float(cast: &Cast, schema: &DFSchema) -> Option<Expr> {
    let ty = match cast.field.data_type() {
        ArrowType::Float32 => DataType::Real,
        ArrowType::Float64 => DataType::Double,
        _ => return None,
    };
    let (_, from) = cast.expr.to_field(schema).ok()?;
    if from.data_type().is_decimal() { postgres_cast(&cast.expr, &from, &ty) } else { None }
}

fn negative(operand: Expr, schema: &DFSchema) -> Expr {
    match operand.get_type(schema) {
        Ok(ty) if ty.is_signed_integer() || ty.is_floating() => checked_negative(operand),
        _ => Expr::Negative(Box::new(operand)),
    }
}

/// Are both of one type, and of that kind?
fn both(left: &Expr, right: &Expr, schema: &DFSchema, kind: fn(&ArrowType) -> bool) -> bool {
    let (Ok(left), Ok(right)) = (left.get_type(schema), right.get_type(schema)) else { return false };
    left == right && kind(&left)
}
