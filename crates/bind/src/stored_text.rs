//! SQL text of the catalog: queries of views, defaults, generated columns.
//!
//! It is bound again where it is used, but means what it meant when it was stored: names are resolved in the search path of
//! then, and the query of a view sees no columns and relations that came later.

use crate::binder::Binder;
use crate::error::{BindErrorKind, BindResult};
use crate::relations::Found;
use crate::tree::Span;
use catalog::View;

/// Maximum nesting depth of views.
const MAX_VIEW_DEPTH: usize = 32;
/// Maximum number of view references in a statement, those within views included.
const MAX_VIEWS: usize = 128;

impl Binder<'_> {
    /// Binds the query of a view, with its own search path. Of the tables in `view.reads` only the columns recorded there
    /// have names.
    pub(crate) fn within_view<T>(
        &mut self,
        view: &View,
        bind: impl FnOnce(&mut Self) -> BindResult<T>,
    ) -> BindResult<T> {
        self.views += 1;
        if self.view_depth >= MAX_VIEW_DEPTH || self.views > MAX_VIEWS {
            return self.error(BindErrorKind::TooDeep { what: "views are" }, Span::default());
        }
        let reads = self.reads.replace(view.reads.clone());
        let bound = self.within_stored(view.search_path.clone(), bind);
        self.reads = reads;
        bound
    }

    /// Binds stored SQL text, such as a default, with its own search path and without the scopes, CTEs and positions of
    /// the statement that refers to it.
    pub(crate) fn within_stored<T>(
        &mut self,
        path: Vec<String>,
        bind: impl FnOnce(&mut Self) -> BindResult<T>,
    ) -> BindResult<T> {
        let lines = std::mem::take(&mut self.lines);
        let scopes = std::mem::take(&mut self.scopes);
        let ctes = std::mem::take(&mut self.ctes);
        let boundaries = std::mem::take(&mut self.boundaries);
        let path = self.path.replace(path);
        self.view_depth += 1;
        let bound = bind(self);
        self.view_depth -= 1;
        self.path = path;
        (self.lines, self.scopes, self.ctes, self.boundaries) = (lines, scopes, ctes, boundaries);
        bound
    }

    /// Finds the relation of a name. For a view, relations that were created later in a schema that its search path has
    /// before that of a relation it reads do not hide that relation.
    pub(crate) fn find_in_path(&self, schema: Option<&str>, name: &str) -> Option<Found> {
        let found = self.relations.find(self.path.as_deref(), schema, name);
        let (None, Some(reads), Some(path)) = (schema, &self.reads, &self.path) else { return found };
        let is_read = |found: &Found| found.oid().is_some_and(|oid| reads.iter().any(|read| read.relation == oid));
        if found.as_ref().is_some_and(is_read) {
            return found;
        }
        let in_schema = |schema: &String| self.relations.find(None, Some(schema), name).filter(is_read);
        path.iter().find_map(in_schema).or(found)
    }
}
