//! Converts errors of DataFusion and Arrow by their variants. Their messages are never parsed: any error that depends
//! on a user's values is detected by our own code, and travels through a plan as an external error. The remaining ones
//! are internal errors (XX000), reported with their text.

use crate::error::{QueryError, Refusal};
use arrow::error::ArrowError;
use datafusion::common::DataFusionError;

impl From<DataFusionError> for QueryError {
    fn from(error: DataFusionError) -> Self {
        of(&error)
    }
}

impl From<ArrowError> for QueryError {
    fn from(error: ArrowError) -> Self {
        of_arrow(&error)
    }
}

/// By reference, because a shared error has several receivers.
fn of(error: &DataFusionError) -> QueryError {
    match error {
        DataFusionError::External(inner) => external(inner.as_ref()),
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => of(inner),
        DataFusionError::Shared(inner) => of(inner),
        DataFusionError::Collection(errors) => match errors.first() {
            Some(first) => of(first),
            None => QueryError::internal("an empty collection of errors"),
        },
        DataFusionError::ArrowError(inner, _) => of_arrow(inner),
        DataFusionError::ResourcesExhausted(detail) => QueryError::Resources { detail: first_line(detail) },
        DataFusionError::NotImplemented(feature) => not_planned(feature),
        DataFusionError::ExecutionJoin(join) if join.is_cancelled() => QueryError::Cancelled,
        other => QueryError::internal(first_line(&other.to_string())),
    }
}

/// Recovers one of our errors that travelled through a plan.
fn external(inner: &(dyn std::error::Error + Send + Sync + 'static)) -> QueryError {
    if let Some(own) = inner.downcast_ref::<QueryError>() {
        own.clone()
    } else if let Some(own) = inner.downcast_ref::<store::StoreError>() {
        QueryError::Store(own.clone())
    } else if let Some(own) = inner.downcast_ref::<catalog::CatalogError>() {
        QueryError::Catalog(own.clone())
    } else if let Some(own) = inner.downcast_ref::<builtins::EvalError>() {
        QueryError::from(own.clone())
    } else if let Some(nested) = inner.downcast_ref::<DataFusionError>() {
        of(nested)
    } else {
        QueryError::internal(inner.to_string())
    }
}

/// Strings of one column that exceed the 32-bit offsets of a batch.
pub(crate) fn too_large_batch() -> QueryError {
    Refusal::Size.because("the texts of one column are larger than 2 GB in one batch of rows")
}

fn of_arrow(error: &ArrowError) -> QueryError {
    match error {
        ArrowError::ExternalError(inner) => external(inner.as_ref()),
        ArrowError::DivideByZero => QueryError::DivisionByZero,
        ArrowError::ArithmeticOverflow(_) => QueryError::OutOfRange { what: "value".to_owned() },
        ArrowError::MemoryError(detail) => QueryError::Resources { detail: detail.clone() },
        ArrowError::NotYetImplemented(feature) => not_planned(feature),
        ArrowError::OffsetOverflowError(_) => too_large_batch(),
        other => QueryError::internal(other.to_string()),
    }
}

/// A feature that DataFusion or Arrow does not implement, described by a sentence.
fn not_planned(sentence: &str) -> QueryError {
    QueryError::Unsupported { feature: format!("a part of this statement ({})", first_line(sentence)) }
}

/// Messages may have a backtrace and the list of valid fields on further lines.
fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_errors_come_back_from_a_plan_as_they_went_in() {
        let sent = QueryError::OutOfRange { what: "bigint".to_owned() };
        let wrapped = DataFusionError::Context("scan".to_owned(), Box::new(DataFusionError::from(sent)));
        let shared = DataFusionError::Shared(std::sync::Arc::new(wrapped));
        assert!(matches!(QueryError::from(shared), QueryError::OutOfRange { what } if what == "bigint"));
        let of_body = DataFusionError::External(Box::new(builtins::EvalError::DivisionByZero));
        let shared = DataFusionError::Shared(std::sync::Arc::new(of_body));
        assert!(!matches!(QueryError::from(shared), QueryError::Internal { .. }));
    }

    #[test]
    fn arrow_errors_have_the_kind_of_their_variant() {
        assert!(matches!(QueryError::from(ArrowError::DivideByZero), QueryError::DivisionByZero));
        let overflow = ArrowError::ArithmeticOverflow("9 + 9".to_owned());
        assert!(matches!(QueryError::from(overflow), QueryError::OutOfRange { .. }));
    }

    #[test]
    fn words_of_other_errors_decide_nothing() {
        let text = "Cannot cast string 'x1' to value of Int64 type: division by zero, regex overflow";
        for error in [
            DataFusionError::from(ArrowError::CastError(text.to_owned())),
            DataFusionError::Execution(text.to_owned()),
            DataFusionError::Internal(text.to_owned()),
        ] {
            let QueryError::Internal { detail } = QueryError::from(error) else { unreachable!() };
            assert!(detail.contains(text), "{detail}");
        }
    }
}
