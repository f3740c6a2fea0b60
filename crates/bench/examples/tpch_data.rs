//! Writes the rows of TPC-H's tables: `tpch_data SCALE FOLDER` writes `FOLDER/lineitem.csv` and so on, for
//! `COPY lineitem FROM ... (FORMAT csv, DELIMITER '|')`.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

#[path = "../src/workload/tpch/data.rs"]
mod data;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(scale), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: tpch_data SCALE FOLDER".into());
    };
    let (scale, folder) = (scale.parse::<f64>()?, PathBuf::from(folder));
    for table in data::TABLES {
        let mut file = std::fs::File::create(folder.join(format!("{table}.csv")))?;
        let mut failed = None;
        data::lines(table, scale, |chunk| failed = file.write_all(chunk.as_bytes()).err());
        if let Some(error) = failed {
            return Err(error.into());
        }
    }
    Ok(())
}
