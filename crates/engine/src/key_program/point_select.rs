//! Tier 1 for reading: plain columns of the row with a given full key. No plan, no Arrow, no other thread.

use super::{Compiled, shape};
use crate::dml::{FAMILY, KeyMatch, ParamTypes, Target};
use crate::error::EngineResult;
use crate::settings::TimeZone;
use catalog::Catalog;
use sql::ast::Query;
use txn::ReadView;
use types::{DataType, Datum};

/// `SELECT columns FROM t WHERE key = …`, compiled.
#[derive(Debug)]
pub(crate) struct PointSelect {
    target: Target,
    key: KeyMatch,
    wanted: Vec<usize>,
}

impl PointSelect {
    /// `None`: the query is more than this.
    pub(crate) fn compile(
        catalog: &Catalog,
        search_path: &[String],
        query: &Query,
        types: &[Option<DataType>],
        zone: TimeZone,
    ) -> EngineResult<Option<Compiled<Self>>> {
        if query.order_by.is_some() || query.limit_clause.is_some() {
            return Ok(None);
        }
        let Some(select) = shape::plain_select(query) else { return Ok(None) };
        let Some((target, alias)) = shape::one_table(catalog, search_path, select, zone)? else { return Ok(None) };
        let Some((wanted, columns)) = shape::projection(&target, &alias, select) else { return Ok(None) };
        let mut params = ParamTypes::declared(types);
        let found = KeyMatch::find(&target, &alias, select.selection.as_ref(), &mut params)?;
        let Some(key) = found.filter(|key| key.residual.is_empty()) else { return Ok(None) };
        let parameters = params.finish()?;
        Ok(Some((Self { target, key, wanted }, parameters, columns)))
    }

    /// The row, if it is there.
    pub(crate) async fn run(&self, view: &ReadView, params: &[Datum]) -> EngineResult<Vec<Vec<Datum>>> {
        let Some(key) = self.key.key(&self.target, params)? else { return Ok(Vec::new()) };
        match view.get(self.target.storage, FAMILY, &key).await? {
            None => Ok(Vec::new()),
            Some(fragment) => Ok(vec![self.target.codec.decode_row(&key, &fragment, &self.wanted)?]),
        }
    }
}
