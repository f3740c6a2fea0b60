//! Compares the table of settings with SHOW ALL.

use bennu::{Answer, Bennu, Options};
use futures::StreamExt;

/// Checks that the page's table has exactly the settings of SHOW ALL with their defaults.
pub(crate) async fn check(page: &str) -> Result<(), String> {
    let told: Vec<(String, String)> = page.lines().filter_map(row).collect();
    let true_ones = show_all().await.map_err(|e| e.to_string())?;
    let differ: Vec<_> = true_ones.iter().filter(|row| !told.contains(row)).collect();
    if !differ.is_empty() {
        return Err(format!("not in the table as they are: {differ:?}"));
    }
    let more: Vec<_> = told.iter().filter(|row| !true_ones.contains(row)).collect();
    if more.is_empty() { Ok(()) } else { Err(format!("in the table, but not there: {more:?}")) }
}

/// Name and default in a table row. The user's name is never a default.
fn row(line: &str) -> Option<(String, String)> {
    let mut cells = line.strip_prefix("| `")?.split('|').map(str::trim);
    let name = cells.next()?.trim_end_matches(" *").trim_matches('`').to_owned();
    let default = cells.next()?;
    let default = if default == "the user" { "bennu" } else { default.trim_matches('`') };
    Some((name, default.to_owned()))
}

async fn show_all() -> Result<Vec<(String, String)>, bennu::Error> {
    let db = Bennu::open_in_memory(&Options::default()).await?;
    let mut session = db.session()?;
    let statements = session.inner().parse("SHOW ALL")?;
    let Answer::Rows(mut rows) = session.inner().run(&statements[0]).await? else { panic!("SHOW ALL has rows") };
    let mut found = Vec::new();
    while let Some(chunk) = rows.chunks.next().await {
        for row in chunk?.to_text(&rows.columns, bennu::TimeZone::UTC)? {
            found.push((row[0].clone().unwrap_or_default(), row[1].clone().unwrap_or_default()));
        }
    }
    Ok(found)
}
