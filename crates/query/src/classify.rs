//! DataFusion's and Arrow's errors to ours, by their variants alone. Words of theirs are never looked at: whatever can go wrong with
//! a user's values is found by code of ours, which fails with an error of ours and travels through a plan as an external one.
//! What is left is a defect (XX000) that is told with its text.

use crate::error::{QueryError, Refusal};
use arrow::error::ArrowError;
use datafusion::common::DataFusionError;

impl From<DataFusionError> for QueryError {
    fn from(error: DataFusionError) -> Self {
        match error {
            DataFusionError::External(inner) => external(inner),
            DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => Self::from(*inner),
            DataFusionError::Shared(inner) => shared(&inner),
            DataFusionError::Collection(errors) => match errors.into_iter().next() {
                Some(first) => Self::from(first),
                None => Self::internal("an empty collection of errors"),
            },
            DataFusionError::ArrowError(inner, _) => from_arrow(*inner),
            DataFusionError::ResourcesExhausted(detail) => Self::Resources { detail: first_line(&detail) },
            DataFusionError::NotImplemented(feature) => not_planned(&feature),
            DataFusionError::ExecutionJoin(join) if join.is_cancelled() => Self::Cancelled,
            other => Self::internal(first_line(&other.to_string())),
        }
    }
}

impl From<ArrowError> for QueryError {
    fn from(error: ArrowError) -> Self {
        from_arrow(error)
    }
}

/// One of ours that travelled through a plan.
fn external(inner: Box<dyn std::error::Error + Send + Sync>) -> QueryError {
    let inner = match inner.downcast::<QueryError>() {
        Ok(own) => return *own,
        Err(other) => other,
    };
    let inner = match inner.downcast::<store::StoreError>() {
        Ok(own) => return QueryError::Store(*own),
        Err(other) => other,
    };
    let inner = match inner.downcast::<catalog::CatalogError>() {
        Ok(own) => return QueryError::Catalog(*own),
        Err(other) => other,
    };
    let inner = match inner.downcast::<builtins::EvalError>() {
        Ok(own) => return QueryError::from(*own),
        Err(other) => other,
    };
    match inner.downcast::<DataFusionError>() {
        Ok(nested) => QueryError::from(*nested),
        Err(other) => QueryError::internal(other.to_string()),
    }
}

/// An error that several receivers hold, so that it cannot be taken apart.
fn shared(error: &DataFusionError) -> QueryError {
    match error.find_root() {
        DataFusionError::External(inner) => match inner.downcast_ref::<QueryError>() {
            Some(own) => own.clone(),
            None => match (inner.downcast_ref::<store::StoreError>(), inner.downcast_ref::<catalog::CatalogError>()) {
                (Some(own), _) => QueryError::Store(own.clone()),
                (_, Some(own)) => QueryError::Catalog(own.clone()),
                (None, None) => QueryError::internal(inner.to_string()),
            },
        },
        DataFusionError::ArrowError(inner, _) => arrow_by_ref(inner),
        DataFusionError::ResourcesExhausted(detail) => QueryError::Resources { detail: first_line(detail) },
        DataFusionError::NotImplemented(feature) => not_planned(feature),
        other => QueryError::internal(first_line(&other.to_string())),
    }
}

/// More bytes of text than one column of a batch takes.
pub(crate) fn too_large_batch() -> QueryError {
    Refusal::Size.because("the texts of one column are larger than 2 GB in one batch of rows")
}

fn from_arrow(error: ArrowError) -> QueryError {
    match error {
        ArrowError::ExternalError(inner) => external(inner),
        other => arrow_by_ref(&other),
    }
}

fn arrow_by_ref(error: &ArrowError) -> QueryError {
    match error {
        ArrowError::DivideByZero => QueryError::DivisionByZero,
        ArrowError::ArithmeticOverflow(_) => QueryError::OutOfRange { what: "value".to_owned() },
        ArrowError::MemoryError(detail) => QueryError::Resources { detail: detail.clone() },
        ArrowError::NotYetImplemented(feature) => not_planned(feature),
        ArrowError::OffsetOverflowError(_) => too_large_batch(),
        other => QueryError::internal(other.to_string()),
    }
}

/// What DataFusion or Arrow has no code for, which they say in a sentence.
fn not_planned(sentence: &str) -> QueryError {
    QueryError::Unsupported { feature: format!("a part of this statement ({})", first_line(sentence)) }
}

/// Messages may carry a backtrace and valid fields on further lines.
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
