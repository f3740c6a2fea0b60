//! Values of the session that are written without parentheses: `current_date`, `current_user`.

use crate::binder::{Binder, plain};
use crate::error::BindResult;
use crate::tree::{Kind, Scalar, SessionValue, Span};
use builtins::TypeId;

impl Binder<'_> {
    /// Returns the session value of that name; `None` for any other name.
    pub(super) fn session_value(&mut self, name: &str, span: Span) -> BindResult<Option<Scalar>> {
        use SessionValue as S;
        let (value, ty) = match name {
            "current_date" => (S::CurrentDate, TypeId::DATE),
            "current_timestamp" => (S::CurrentTimestamp, TypeId::TIMESTAMPTZ),
            "localtime" => (S::LocalTime, TypeId::TIME),
            "localtimestamp" => (S::LocalTimestamp, TypeId::TIMESTAMP),
            "current_time" => (S::CurrentTime, TypeId::TIME),
            "current_user" | "current_role" | "user" => (S::CurrentUser, TypeId::NAME),
            "session_user" => (S::SessionUser, TypeId::NAME),
            "current_schema" => (S::CurrentSchema, TypeId::NAME),
            "current_catalog" => (S::CurrentCatalog, TypeId::NAME),
            _ => return Ok(None),
        };
        self.note_stable();
        Ok(Some(Scalar { kind: Kind::Session(value), ty: plain(ty), span }))
    }
}
