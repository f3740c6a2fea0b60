//! The types that casts name: ours, with PostgreSQL's and Phoenix's names.

use crate::convert;
use crate::error::QueryError;
use arrow::datatypes::{Field, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::Cast;
use datafusion::logical_expr::planner::TypePlanner;
use sql::{SqlError, ast};
use std::sync::Arc;

/// Reads a type's name.
#[derive(Debug)]
pub(crate) struct PostgresTypes;

impl TypePlanner for PostgresTypes {
    fn plan_type_field(&self, ty: &ast::DataType) -> Result<Option<FieldRef>> {
        if let Some(field) = oid_alias(&ty.to_string()) {
            return Ok(Some(named(&field)));
        }
        match sql::data_type(ty) {
            Ok(ty) => Ok(Some(named(&convert::expression_field(&ty)))),
            Err(SqlError::Type { source, .. }) => Err(QueryError::Type(source).into()),
            Err(error) => Err(QueryError::Invalid { message: error.to_string() }.into()),
        }
    }
}

/// A target field without a name would take name and table over from what is cast. And casts that the planner adds have
/// none: see [`is_written`].
fn named(field: &Field) -> FieldRef {
    Arc::new(field.clone().with_name("cast"))
}

/// Is it a cast that the query has, and not the planner's own?
pub(super) fn is_written(cast: &Cast) -> bool {
    !cast.field.name().is_empty()
}

/// `regclass` and its like are numbers or names in catalogs; as casts they give text.
fn oid_alias(name: &str) -> Option<FieldRef> {
    let lower = name.to_lowercase();
    let ty = match lower.strip_prefix("pg_catalog.").unwrap_or(&lower) {
        "xid" | "cid" => types::DataType::BigInt,
        "name" | "\"char\"" | "cstring" | "regtype" | "regclass" | "regproc" | "regprocedure" | "regnamespace"
        | "regrole" => types::DataType::Text,
        _ => return None,
    };
    Some(Arc::new(convert::field("", &ty, true)))
}
