//! Fenced blocks of a page.

/// A fenced block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The info string: `sql`, `sql fails=42P01`, `text`, `csv people.csv`.
    pub(crate) info: String,
    /// Line of its fence, from 1.
    pub(crate) line: usize,
    /// Its lines.
    pub(crate) lines: Vec<String>,
    /// Whether only blank lines separate it from the block before.
    pub(crate) follows: bool,
}

impl Block {
    /// Whether the block is SQL to run.
    pub(crate) fn runs(&self) -> bool {
        self.info.split_whitespace().next() == Some("sql")
    }

    /// The SQLSTATE with which the last statement must fail.
    pub(crate) fn fails(&self) -> Option<&str> {
        self.info.split_whitespace().find_map(|word| word.strip_prefix("fails="))
    }

    /// The file name of a `csv` block.
    pub(crate) fn csv(&self) -> Option<&str> {
        self.info.strip_prefix("csv ").map(str::trim)
    }
}

/// All fenced blocks in order.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut open: Option<Block> = None;
    let mut only_blank = false;
    for (at, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(_), Some(block)) => {
                found.push(block);
                only_blank = true;
            }
            (Some(info), None) => {
                let info = info.trim().to_owned();
                open = Some(Block { info, line: at + 1, lines: Vec::new(), follows: only_blank });
            }
            (None, Some(mut block)) => {
                block.lines.push(line.to_owned());
                open = Some(block);
            }
            (None, None) => only_blank &= line.trim().is_empty(),
        }
    }
    assert!(open.is_none(), "a block is not closed: {open:?}");
    found
}
