"""DataFusion over Parquet files, as its wheel from PyPI has it.

datafusion.py FOLDER: makes FOLDER/<table>.parquet from FOLDER/<table>.csv for each statement of FOLDER/tables.sql,
prints "ready", then answers queries: each ends with a line ";", its answer is the seconds, the rows, and a line ".".
"""
import os
import re
import sys
import time

from datafusion import SessionContext

folder = sys.argv[1]
context = SessionContext()
for statement in open(os.path.join(folder, "tables.sql")).read().split(";"):
    named = re.match(r"\s*CREATE TABLE (\w+)", statement)
    if not named:
        continue
    table = named.group(1)
    path = os.path.join(folder, table)
    # Files have no keys.
    columns = re.sub(r",\s*PRIMARY KEY \([^)]*\)", "", statement[named.end():])
    context.sql(
        f"CREATE EXTERNAL TABLE {table}_csv {columns} STORED AS CSV LOCATION '{path}.csv' "
        "OPTIONS ('format.delimiter' '|', 'format.has_header' 'false')"
    )
    context.sql(f"COPY {table}_csv TO '{path}.parquet' STORED AS PARQUET").collect()
    context.sql(f"DROP TABLE {table}_csv")
    os.remove(path + ".csv")
    context.sql(f"CREATE EXTERNAL TABLE {table} STORED AS PARQUET LOCATION '{path}.parquet'")
print("ready", flush=True)

query = []
for line in sys.stdin:
    if line.rstrip("\n") != ";":
        query.append(line)
        continue
    begin = time.perf_counter()
    batches = context.sql("".join(query)).collect()
    seconds = time.perf_counter() - begin
    query = []
    print(seconds)
    for batch in batches:
        columns = [column.to_pylist() for column in batch.columns]
        for row in zip(*columns):
            print("|".join("NULL" if cell is None else str(cell) for cell in row))
    print(".", flush=True)
