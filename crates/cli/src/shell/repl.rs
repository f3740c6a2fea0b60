//! The interactive shell: line editing, history, statements over several lines.

use super::runner::Runner;
use crate::error::CliError;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use std::path::PathBuf;

/// Reads statements until the end of input or `\q`. Failed statements do not end it.
pub(crate) async fn run(runner: &mut Runner) -> Result<bool, CliError> {
    let mut editor = DefaultEditor::new()?;
    let history = history_file();
    if let Some(path) = &history {
        // A first run has none.
        let _ = editor.load_history(path);
    }
    let mut text = String::new();
    loop {
        match editor.readline(if text.is_empty() { "bennu=> " } else { "bennu-> " }) {
            Ok(line) if text.is_empty() && matches!(line.trim(), "\\q" | "quit" | "exit") => break,
            Ok(line) => {
                text.push_str(&line);
                text.push('\n');
                if is_complete(&text) {
                    editor.add_history_entry(text.trim_end())?;
                    runner.run(&text).await;
                    text.clear();
                }
            }
            Err(ReadlineError::Interrupted) => text.clear(),
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error.into()),
        }
    }
    if let Some(path) = &history {
        editor.save_history(path)?;
    }
    Ok(true)
}

fn history_file() -> Option<PathBuf> {
    Some(PathBuf::from(std::env::var_os("HOME")?).join(".bennu_history"))
}

/// Does `text` end in a `;` outside quotes and comments (or hold nothing)?
fn is_complete(text: &str) -> bool {
    let mut chars = text.chars().peekable();
    let mut complete = true;
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                complete = chars.by_ref().any(|next| next == c);
                if !complete {
                    return false;
                }
                complete = false;
            }
            '-' if chars.peek() == Some(&'-') => {
                chars.by_ref().find(|&next| next == '\n');
            }
            ';' => complete = true,
            c if c.is_whitespace() => {}
            _ => complete = false,
        }
    }
    complete
}

#[cfg(test)]
mod tests {
    use super::is_complete;

    #[test]
    fn a_statement_ends_at_a_semicolon_outside_quotes_and_comments() {
        assert!(is_complete("select 1;\n") && is_complete("select ';' ; -- done\n") && is_complete("  \n"));
        assert!(!is_complete("select ';\n") && !is_complete("select 1 -- ;\n") && !is_complete("select 'a'"));
    }
}
