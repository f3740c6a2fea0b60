//! The types that casts name: ours, with PostgreSQL's and Phoenix's names.

use crate::convert;
use crate::error::QueryError;
use arrow::datatypes::FieldRef;
use datafusion::common::Result;
use datafusion::logical_expr::planner::TypePlanner;
use sql::{SqlError, ast};
use std::sync::Arc;

/// Reads a type's name.
#[derive(Debug)]
pub(crate) struct PostgresTypes;

impl TypePlanner for PostgresTypes {
    fn plan_type_field(&self, ty: &ast::DataType) -> Result<Option<FieldRef>> {
        if let Some(field) = oid_alias(&ty.to_string()) {
            return Ok(Some(field));
        }
        match sql::data_type(ty) {
            Ok(ty) => Ok(Some(Arc::new(convert::expression_field(&ty)))),
            Err(SqlError::Type { source, .. }) => Err(QueryError::Type(source).into()),
            Err(error) => Err(QueryError::Invalid { message: error.to_string() }.into()),
        }
    }
}

/// `regclass` and its like are numbers or names in catalogs; as casts they give text.
fn oid_alias(name: &str) -> Option<FieldRef> {
    let lower = name.to_lowercase();
    let ty = match lower.strip_prefix("pg_catalog.").unwrap_or(&lower) {
        "xid" | "cid" => types::DataType::BigInt,
        "name" | "\"char\"" | "cstring" | "regtype" | "regclass" | "regproc" | "regnamespace" | "regrole" => {
            types::DataType::Text
        }
        _ => return None,
    };
    Some(Arc::new(convert::field("", &ty, true)))
}
