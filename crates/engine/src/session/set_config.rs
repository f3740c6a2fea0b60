//! set_config(): SET as a function of a query.
//!
//! A call checks the value and notes the change. The session applies the noted changes when the statement has
//! succeeded, so that all of a statement runs under the same settings.

use crate::block::Block;
use crate::error::{EngineResult, Fault, fail};
use crate::settings::{Settings, SettingsChange};
use crate::{EngineError, Session};
use arrow::array::{Array, AsArray, StringArray};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use parking_lot::Mutex;
use query::QueryError;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Changes that calls in the session's statements have requested.
#[derive(Debug, Default)]
pub(crate) struct SetConfigs {
    /// Whether the statement compiled last calls it. Read by the task that compiled the statement.
    called: AtomicBool,
    /// Locked to note or take changes, never across an await.
    changes: Mutex<Vec<SettingsChange>>,
}

impl SetConfigs {
    /// The function, if `name` is its name.
    pub(crate) fn find(self: &Arc<Self>, name: &str) -> Option<Arc<ScalarUDF>> {
        if name != "set_config" {
            return None;
        }
        self.called.store(true, Ordering::Release);
        let types = vec![ArrowType::Utf8, ArrowType::Utf8, ArrowType::Boolean];
        let signature = Signature::exact(types, Volatility::Volatile);
        Some(Arc::new(ScalarUDF::new_from_impl(SetConfig { signature, noted: Arc::clone(self) })))
    }

    /// Called before a statement is compiled.
    pub(crate) fn begin(&self) {
        self.called.store(false, Ordering::Release);
    }

    pub(crate) fn is_called(&self) -> bool {
        self.called.load(Ordering::Acquire)
    }

    /// Drops the changes, because the statement failed.
    pub(crate) fn forget(&self) {
        self.changes.lock().clear();
    }
}

impl Session {
    /// Applies the noted changes.
    pub(crate) fn make_noted_changes(&mut self) -> EngineResult<()> {
        let changes = std::mem::take(&mut *self.set_configs.changes.lock());
        let alone = matches!(self.block, Block::Idle);
        // Outside a block a local change ends with its statement.
        for change in changes.into_iter().filter(|change| !(alone && change.local)) {
            self.settings.make(change)?;
        }
        Ok(())
    }
}

#[derive(Debug)]
struct SetConfig {
    signature: Signature,
    noted: Arc<SetConfigs>,
}

impl PartialEq for SetConfig {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.noted, &other.noted)
    }
}

impl Eq for SetConfig {}

impl Hash for SetConfig {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl ScalarUDFImpl for SetConfig {
    fn name(&self) -> &str {
        "set_config"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(ArrowType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let arrays = args.args.into_iter().map(|arg| arg.into_array(rows)).collect::<Result<Vec<_>>>()?;
        let [names, values, locals] = arrays.as_slice() else {
            return Err(failed(&Fault::Internal { detail: "arguments of set_config()".to_string() }.into()));
        };
        let (names, values, locals) = (names.as_string::<i32>(), values.as_string::<i32>(), locals.as_boolean());
        let mut set = Vec::with_capacity(rows);
        for row in 0..rows {
            let name = names.is_valid(row).then(|| names.value(row));
            let value = values.is_valid(row).then(|| values.value(row));
            let local = locals.is_valid(row) && locals.value(row);
            set.push(self.note(name, value, local).map_err(|error| failed(&error))?);
        }
        Ok(ColumnarValue::Array(Arc::new(StringArray::from(set))))
    }
}

impl SetConfig {
    fn note(&self, name: Option<&str>, value: Option<&str>, local: bool) -> EngineResult<String> {
        let Some(name) = name else {
            return fail(Fault::SettingName);
        };
        let Some(value) = value else {
            return fail(Fault::Unsupported { feature: "set_config() to NULL".to_string() });
        };
        let change = Settings::change(name, value, local)?;
        let shown = change.value.clone();
        self.noted.changes.lock().push(change);
        Ok(shown)
    }
}

fn failed(error: &EngineError) -> DataFusionError {
    QueryError::Function { code: error.code(), message: error.message().to_string() }.into()
}
