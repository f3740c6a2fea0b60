//! Rust closures as SQL functions.

use crate::{Bennu, DataType, Datum, Error};
use engine::RustFunction;
use std::sync::Arc;

/// A SQL function written in Rust; [`Bennu::register`] makes it known.
///
/// It is called for one row at a time, with a value for each argument, and not at all when one of them is NULL: the
/// result is NULL then. The same arguments are taken to give the same result, always. [`Self::called_on_null`] and
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
    /// A function with its types. An error of `body` fails the statement with 38000; its value is assigned to `returns`.
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

    /// The same arguments may give another result: it is called for every row, and never while planning.
    #[must_use]
    pub fn volatile(mut self) -> Self {
        self.inner.immutable = false;
        self
    }

    /// It is called with NULLs too.
    #[must_use]
    pub fn called_on_null(mut self) -> Self {
        self.inner.strict = false;
        self
    }
}

impl Bennu {
    /// Makes `function` known to all sessions, served ones too, until the database is closed. One that was registered
    /// before under its name is replaced.
    ///
    /// # Errors
    /// 42723 when SQL has a function of that name itself.
    pub fn register(&self, function: Function) -> Result<(), Error> {
        Ok(self.engine().register_function(function.inner)?)
    }
}
