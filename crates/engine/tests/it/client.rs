//! A client that renders answers as text: rows as `a|b`, then the tag; errors as `ERROR code message`.

use engine::{Answer, Chunk, Engine, EngineError, EngineOptions, Prepared, Session, SessionStart};
use futures::StreamExt;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store_fjall::FjallStore;
use store_testkit::ModelStore;
use types::{DataType, Datum};

/// An engine over a new store: the model, or the embedded store with `BENNU_TEST_STORE=fjall`.
pub async fn engine() -> Arc<Engine> {
    engine_over(store()).await
}

fn store() -> Arc<dyn Store> {
    match std::env::var("BENNU_TEST_STORE").as_deref() {
        Ok("fjall") => {
            let options = store_fjall::Options { temporary: true, ..store_fjall::Options::default() };
            FjallStore::open(tempfile::tempdir().unwrap().keep(), options).unwrap()
        }
        _ => Arc::new(ModelStore::new()),
    }
}

/// An engine over the given store.
pub async fn engine_over(store: Arc<dyn Store>) -> Arc<Engine> {
    let options = EngineOptions { query_threads: 2, ..EngineOptions::default() };
    Engine::open(store, options).await.unwrap()
}

/// An engine over a new store, as [`engine`], with this many query threads.
pub async fn engine_with_threads(query_threads: usize) -> Arc<Engine> {
    Engine::open(store(), EngineOptions { query_threads, ..EngineOptions::default() }).await.unwrap()
}

/// Waits until this many lock requests are waiting.
pub async fn waiting_are(engine: &Arc<Engine>, count: usize) {
    let mut watcher = Client::of(engine);
    let wanted = format!("{count}\nSELECT 1");
    while watcher.run("SELECT count(*) FROM pg_locks WHERE NOT granted").await != wanted {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// One session.
pub struct Client {
    pub session: Session,
}

impl Client {
    pub fn of(engine: &Arc<Engine>) -> Self {
        let start = SessionStart { user: "ada".to_string(), ..SessionStart::default() };
        Self { session: engine.session(start).unwrap() }
    }

    /// A client with an engine of its own.
    pub async fn new() -> Self {
        Self::of(&engine().await)
    }

    /// Runs a simple query and renders all answers.
    pub async fn run(&mut self, text: &str) -> String {
        let mut out = String::new();
        if let Err(error) = self.try_run(text, &mut out).await {
            self.session.fail();
            write_error(&mut out, &error);
        }
        out.trim_end().to_string()
    }

    /// Runs statements that must succeed.
    pub async fn ok(&mut self, text: &str) {
        let answer = self.run(text).await;
        assert!(!answer.contains("ERROR"), "{text}\n{answer}");
    }

    /// Repeats a query until its answer begins with `answer`.
    pub async fn until(&mut self, query: &str, answer: &str) {
        for _ in 0..5_000 {
            if self.run(query).await.starts_with(answer) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        panic!("{query} is not {answer} but {}; {}", self.run(query).await, self.run("SELECT * FROM bennu.jobs").await);
    }

    async fn try_run(&mut self, text: &str, out: &mut String) -> Result<(), EngineError> {
        let statements = self.session.parse(text)?;
        let mut done = Ok(());
        for statement in &statements {
            if statements.len() > 1 {
                self.session.begin_in_batch();
            }
            done = match self.session.run(statement).await {
                Ok(answer) => render(answer, out).await,
                Err(error) => Err(error),
            };
            for notice in self.session.take_notices() {
                writeln!(out, "{} {} {}", notice.severity, notice.code, notice.message).unwrap();
            }
            if done.is_err() {
                break;
            }
        }
        self.session.end_batch(done.is_ok()).await?;
        done
    }

    /// Prepares a statement, runs it with parameters, and renders the answer.
    pub async fn execute(&mut self, text: &str, params: &[Datum]) -> String {
        let mut out = String::new();
        let done = async {
            let prepared = self.session.prepare(text, &[]).await?;
            render(self.session.execute(&prepared, params).await?, &mut out).await
        };
        if let Err(error) = done.await {
            write_error(&mut out, &error);
        }
        out.trim_end().to_string()
    }

    /// Runs a prepared statement and renders the answer.
    pub async fn run_prepared(&mut self, prepared: &Arc<Prepared>, params: &[Datum]) -> String {
        let mut out = String::new();
        let done = async { render(self.session.execute(prepared, params).await?, &mut out).await };
        if let Err(error) = done.await {
            write_error(&mut out, &error);
        }
        out.trim_end().to_string()
    }

    /// The value of a metric.
    pub fn metric(engine: &Engine, name: &str) -> u64 {
        engine.metrics().into_iter().find(|(known, _)| *known == name).map_or(0, |(_, value)| value)
    }
}

fn write_error(out: &mut String, error: &EngineError) {
    writeln!(out, "ERROR {} {}", error.code(), error.message()).unwrap();
    let parts = [("DETAIL", error.detail()), ("HINT", error.hint()), ("CONTEXT", error.context())];
    for (label, text) in parts {
        if let Some(text) = text {
            writeln!(out, "{label} {text}").unwrap();
        }
    }
}

async fn render(answer: Answer, out: &mut String) -> Result<(), EngineError> {
    match answer {
        Answer::Empty => {}
        Answer::Done(tag) => writeln!(out, "{tag}").unwrap(),
        Answer::Rows(mut rows) => {
            let types: Vec<DataType> = rows.columns.iter().map(|column| column.ty).collect();
            let mut count = 0;
            while let Some(chunk) = rows.chunks.next().await {
                let chunk = chunk?;
                count += chunk.len();
                let values = match chunk {
                    Chunk::Stored(rows) => rows.to_rows().unwrap(),
                    Chunk::Rows(values) => values,
                    Chunk::Batch(batch) => query::convert::batch_to_rows(&batch, &types).unwrap(),
                };
                for row in values {
                    render_row(&types, &row, out);
                }
            }
            if rows.counted {
                writeln!(out, "{} {count}", rows.tag).unwrap();
            }
        }
        Answer::CopyIn(copy) => writeln!(out, "COPY IN of {} columns", copy.columns).unwrap(),
        Answer::CopyOut(mut copy) => {
            while let Some(data) = copy.data.next().await {
                out.push_str(std::str::from_utf8(&data?).unwrap());
            }
            writeln!(out, "COPY {}", copy.rows()).unwrap();
        }
    }
    Ok(())
}

fn render_row(types: &[DataType], row: &[Datum], out: &mut String) {
    for (i, (ty, value)) in types.iter().zip(row).enumerate() {
        if i > 0 {
            out.push('|');
        }
        match value {
            Datum::Null => out.push('~'),
            value => types::text::print(ty, value, out),
        }
    }
    out.push('\n');
}
