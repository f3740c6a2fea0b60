//! Statements whose values are written into their texts run as the prepared statement of their shape.
//!
//! ```text
//!   text ──sql::Shape──> shape and values
//!              ├── not seen before           noted; parsed and compiled like any text
//!              ├── seen before               parsed, compiled with parameters (compile.rs), then runs so
//!              └── has a prepared statement  runs with the values as parameters: no tokens, no tree, no binding
//! ```
//! So a client that sends `… WHERE id = 42` and `… WHERE id = 43` pays for parsing, binding and compiling once. The prepared
//! statement has the types that the literals have, literals that mean more than their value (`ORDER BY 1`, `LIMIT 5`) are part
//! of what is looked up ([`Variant::fixed`]), and a statement that does not compile as it would with its literals, or that is
//! better planned with their values, runs as it is written.

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

/// Which statements run as the prepared one of their shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Parameterize {
    /// None.
    Off,
    /// Those whose shape was seen before.
    #[default]
    On,
    /// All that can: for tests.
    Always,
}

/// Shapes kept.
const CAPACITY: usize = 2048;
/// Prepared statements of a shape: sessions of other settings have others, and so have other fixed literals.
const MAX_VARIANTS: usize = 8;

/// The shapes that were seen, for all sessions.
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

/// What is known of a shape.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Held for one look or change, never across an await.
    variants: Mutex<Vec<Arc<Variant>>>,
}

/// How statements of a shape run.
#[derive(Debug)]
struct Variant {
    /// Of the catalog.
    version: u64,
    environment: Environment,
    /// The literals that are not parameters: their places, and their texts.
    fixed: Vec<(usize, Box<str>)>,
    /// `None`: as they are written.
    generic: Option<Generic>,
}

/// The prepared statement of a shape.
#[derive(Debug)]
struct Generic {
    source: Arc<Source>,
    prepared: Arc<Prepared>,
    /// The place of the literal of each parameter.
    literals: Vec<usize>,
}

/// A statement as the prepared one of its shape.
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

/// What the shape of a text leads to.
#[derive(Clone, Debug)]
pub(crate) enum ByShape {
    Ready(Ready),
    Candidate(Candidate),
    /// It runs as it is written.
    Nothing,
}

impl Variant {
    /// Is it made for such a statement of this session, and still good?
    fn serves(&self, session: &Session, version: u64, text: &str, shape: &Shape) -> bool {
        let written = |at: usize| shape.literals.get(at).and_then(|literal| text.get(literal.span.clone()));
        self.version == version
            && self.environment.is_of(session)
            && self.fixed.iter().all(|(at, fixed)| written(*at) == Some(fixed))
    }
}

impl Generic {
    /// The statement of these values; `None` where only its text says what is meant.
    fn ready(&self, shape: &Shape, text: &str, zone: &TimeZone) -> Option<Ready> {
        let params = values::read(&self.literals, shape, &self.prepared.parameters, zone)?;
        let (source, prepared) = (Arc::clone(&self.source), Arc::clone(&self.prepared));
        Some(Ready { source, prepared, params, text: Arc::from(text) })
    }
}

impl Known {
    /// How such a statement of the session runs, if that was found out before.
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
        let own = text.get(shape.span.clone()).unwrap_or(text);
        match variant.generic.as_ref().and_then(|generic| generic.ready(&shape, own, &self.time_zone())) {
            Some(ready) => ByShape::Ready(ready),
            None => ByShape::Nothing,
        }
    }

    /// The statement as the prepared one of its shape, which is made here; `None`: it runs as it is written.
    pub(crate) async fn ready(&mut self, source: &Arc<Source>, candidate: &Candidate) -> Option<Ready> {
        if self.block.status() == TransactionStatus::Failed || self.engine.catalog().follow().await.is_err() {
            return None;
        }
        self.know_indexes().await.ok()?;
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
