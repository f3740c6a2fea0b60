//! Rust closures as SQL functions.

use crate::{Bennu, DataType, Datum, Error};
use engine::RustFunction;
use std::sync::Arc;

/// A SQL function written in Rust, registered by [`Bennu::register`].
///
/// It is called once per row with a value for each argument. By default it is strict, so a NULL argument gives NULL
/// without a call, and immutable, so equal arguments always give equal results. [`Self::called_on_null`] and
/// [`Self::volatile`] change that.
///
/// ```
/// # use bennu::{Bennu, DataType, Datum, Function};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), bennu::Error> {
/// # let db = Bennu::in_memory().await?;
/// let vowels = Function::new("vowels", [DataType::Text], DataType::BigInt, |args| match args {
///     [Datum::Text(text)] => Ok(Datum::Int8(text.chars().filter(|c| "aeiou".contains(*c)).count() as i64)),
///     _ => Err("vowels wants a text".into()),
/// });
/// db.register(vowels)?;
/// let counted: Option<(i64,)> = db.session()?.row("SELECT vowels('skip scan')", &[]).await?;
/// assert_eq!(counted, Some((2,)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Function {
    inner: RustFunction,
}

impl Function {
    /// Defines a function. An error of `body` fails the statement with 38000; its value is assigned to `returns`.
    pub fn new(
        name: &str,
        arguments: impl Into<Vec<DataType>>,
        returns: DataType,
        body: impl Fn(&[Datum]) -> Result<Datum, String> + Send + Sync + 'static,
    ) -> Self {
        let name = types::ident::fold(name);
        let arguments = arguments.into();
        Self { inner: RustFunction { name, arguments, returns, immutable: true, strict: true, body: Arc::new(body) } }
    }

    /// Makes it volatile: it is called for every row, and never while planning.
    #[must_use]
    pub fn volatile(mut self) -> Self {
        self.inner.immutable = false;
        self
    }

    /// Makes it not strict: it is called with NULLs too.
    #[must_use]
    pub fn called_on_null(mut self) -> Self {
        self.inner.strict = false;
        self
    }
}

impl Bennu {
    /// Registers `function` for all sessions, those of served clients included, until the database is closed. Replaces
    /// a
    /// function registered under the same name.
    ///
    /// # Errors
    /// 42723 if a built-in function has the name.
    pub fn register(&self, function: Function) -> Result<(), Error> {
        Ok(self.engine().register_function(function.inner)?)
    }
}
