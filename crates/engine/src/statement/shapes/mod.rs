//! Statements with literals run as the prepared statement of their shape.
//!
//! ```text
//!   text ──sql::Shape──> shape and values
//!              ├── not seen before           noted; parsed and compiled as written
//!              ├── seen before               parsed, compiled with parameters (compile.rs), then runs with them
//!              └── has a prepared statement  runs with the literals as parameters: no parsing, no binding
//! ```
//! So a client that sends `… WHERE id = 42` and `… WHERE id = 43` pays for parsing, binding and compiling once.
//! Parameters have the types of the literals. Literals that mean more than their value (`ORDER BY 1`, `LIMIT 5`) are
//! not parameters but part of the look-up ([`Variant::fixed`]). A statement that compiles differently with
//! parameters, or whose plan depends on the values, runs as written.

mod compile;
mod values;

use crate::statement::Source;
use crate::statement::plan_cache::Environment;
use crate::{Prepared, Session, TransactionStatus};
use builtins::TimeZone;
use parking_lot::Mutex;
use quick_cache::sync::Cache;
use sql::Shape;
use std::sync::Arc;
use types::Datum;

/// Which statements run as the prepared statement of their shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Parameterize {
    /// No statements.
    Off,
    /// Statements whose shape was seen before.
    #[default]
    On,
    /// All statements for which it is possible; for tests.
    Always,
}

/// Maximum number of shapes.
const CAPACITY: usize = 2048;
/// Maximum number of prepared statements of one shape: they differ by session settings and by fixed literals.
const MAX_VARIANTS: usize = 8;

/// The shapes that were seen, shared by all sessions.
#[derive(Debug)]
pub(crate) struct Shapes {
    known: Cache<Box<str>, Arc<Known>>,
}

impl Default for Shapes {
    fn default() -> Self {
        Self { known: Cache::new(CAPACITY) }
    }
}

impl Shapes {
    pub(crate) fn clear(&self) {
        self.known.clear();
    }
}

/// The known variants of a shape.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Locked for one look-up or change, never across an await.
    variants: Mutex<Vec<Arc<Variant>>>,
}

/// How statements of a shape run, for one environment and one list of fixed literals.
#[derive(Debug)]
struct Variant {
    /// Version of the catalog.
    version: u64,
    environment: Environment,
    /// The literals that are not parameters: their positions and texts.
    fixed: Vec<(usize, Box<str>)>,
    /// `None`: the statements run as written.
    generic: Option<Generic>,
}

/// The prepared statement of a shape.
#[derive(Debug)]
struct Generic {
    source: Arc<Source>,
    prepared: Arc<Prepared>,
    /// Position of the literal of each parameter.
    literals: Vec<usize>,
}

/// A statement to run as the prepared statement of its shape.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    pub(crate) source: Arc<Source>,
    pub(crate) prepared: Arc<Prepared>,
    pub(crate) params: Vec<Datum>,
    /// Its own text.
    pub(crate) text: Arc<str>,
}

/// A statement of a shape that was seen before and has no prepared statement yet.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    known: Arc<Known>,
    shape: Shape,
    text: Arc<str>,
}

/// Result of the look-up of a text by its shape.
#[derive(Clone, Debug)]
pub(crate) enum ByShape {
    Ready(Ready),
    Candidate(Candidate),
    /// The statement runs as written.
    Nothing,
}

impl Variant {
    /// Whether it applies to this statement and session, and is still valid.
    fn serves(&self, session: &Session, version: u64, text: &str, shape: &Shape) -> bool {
        let written = |at: usize| shape.literals.get(at).and_then(|literal| text.get(literal.span.clone()));
        self.version == version
            && self.environment.is_of(session)
            && self.fixed.iter().all(|(at, fixed)| written(*at) == Some(fixed))
    }
}

impl Generic {
    /// The prepared statement with these literals as parameters; `None` if a literal needs the binder.
    fn ready(&self, shape: &Shape, text: &str, zone: &TimeZone) -> Option<Ready> {
        let params = values::read(&self.literals, shape, &self.prepared.parameters, zone)?;
        let (source, prepared) = (Arc::clone(&self.source), Arc::clone(&self.prepared));
        Some(Ready { source, prepared, params, text: Arc::from(text) })
    }
}

impl Known {
    /// The variant for this statement and session, if there is one.
    fn find(&self, session: &Session, version: u64, text: &str, shape: &Shape) -> Option<Arc<Variant>> {
        let serves = |variant: &&Arc<Variant>| variant.serves(session, version, text, shape);
        self.variants.lock().iter().find(serves).cloned()
    }

    fn add(&self, variant: Variant) -> Arc<Variant> {
        let variant = Arc::new(variant);
        let mut variants = self.variants.lock();
        variants.retain(|kept| kept.version == variant.version);
        if variants.len() >= MAX_VARIANTS {
            variants.remove(0);
        }
        variants.push(Arc::clone(&variant));
        variant
    }
}

impl Session {
    /// Looks a text up by its shape.
    pub(crate) fn by_shape(&self, text: &str) -> ByShape {
        let mode = self.settings.effective().parameterize;
        if mode == Parameterize::Off || !self.settings.effective().plan_cache {
            return ByShape::Nothing;
        }
        let Some(shape) = Shape::of(text) else { return ByShape::Nothing };
        let Some(text) = text.get(shape.span.clone()) else { return ByShape::Nothing };
        let shapes = &self.engine.shapes().known;
        let known = match shapes.get(shape.text.as_str()) {
            Some(known) => known,
            None => {
                let known = Arc::<Known>::default();
                shapes.insert(shape.text.as_str().into(), Arc::clone(&known));
                if mode == Parameterize::On {
                    return ByShape::Nothing;
                }
                known
            }
        };
        let Some(variant) = known.find(self, self.engine.catalog().version(), text, &shape) else {
            return ByShape::Candidate(Candidate { known, shape, text: Arc::from(text) });
        };
        match variant.generic.as_ref().and_then(|generic| generic.ready(&shape, text, &self.time_zone())) {
            Some(ready) => ByShape::Ready(ready),
            None => ByShape::Nothing,
        }
    }

    /// Prepares the statement of this shape and returns it with its parameters; `None`: the statement runs as
    /// written.
    pub(crate) async fn ready(&mut self, source: &Arc<Source>, candidate: &Candidate) -> Option<Ready> {
        if self.block.status() == TransactionStatus::Failed || self.engine.catalog().follow().await.is_err() {
            return None;
        }
        self.register_indexes().await.ok()?;
        self.take_hints(&[]);
        let version = self.engine.catalog().version();
        let Candidate { known, shape, text } = candidate;
        let variant = match known.find(self, version, text, shape) {
            Some(variant) => variant,
            None => known.add(Box::pin(self.variant(version, source, candidate)).await),
        };
        variant.generic.as_ref()?.ready(shape, &source.text, &self.time_zone())
    }

    async fn variant(&mut self, version: u64, source: &Arc<Source>, candidate: &Candidate) -> Variant {
        let environment = Environment::of(self);
        let Some(generic) = self.prepare_shape(source, candidate).await else {
            return Variant { version, environment, fixed: Vec::new(), generic: None };
        };
        let Candidate { shape, text, .. } = candidate;
        let stays = |(at, literal): (usize, &sql::Literal)| {
            let written = text.get(literal.span.clone()).filter(|_| !generic.literals.contains(&at))?;
            Some((at, written.into()))
        };
        let fixed = shape.literals.iter().enumerate().filter_map(stays).collect();
        Variant { version, environment, fixed, generic: Some(generic) }
    }
}
