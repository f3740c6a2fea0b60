//! EXPLAIN.

use crate::dml::literal;
use crate::error::{EngineResult, Fault, fail};
use crate::plan_cache::{Compiled, Program};
use crate::statement::Source;
use crate::utility::text_column;
use crate::{Answer, Session, stream};
use sql::{Explain, ExplainFormat};
use std::sync::Arc;
use types::{DataType, Datum};

impl Session {
    pub(crate) async fn explain(&mut self, explain: &Explain, types: &[Option<DataType>]) -> EngineResult<Answer> {
        let _ = (explain, types);
        fail(Fault::Unsupported { feature: "EXPLAIN".to_string() })
    }
}
