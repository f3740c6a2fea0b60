"""What pg_dump 15 writes of a schema, each entry of it as one line: `entry | its statements`.

    main.py HOST PORT BIN POSTGRES_PORT

What was written of the schema is played back into PostgreSQL, and into the server that it is of.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

HOST, PORT, BIN, POSTGRES = sys.argv[1:]


def run(name, *arguments, text=None, port=PORT):
    where = ["-h", HOST, "-p", port, "-U", "clients", "-d", "bennu"]
    done = subprocess.run([f"{BIN}/{name}", *where, *arguments], input=text, capture_output=True, text=True)
    return done.returncode, done.stdout, " ".join(done.stderr.split())


def entries(dump):
    """`Type Name` of each entry, with its statements on one line."""
    parts = re.split(r"^-- (?:Data for )?Name: (.*?); Type: (.*?);.*$", dump, flags=re.MULTILINE)
    yield "settings", parts[0]
    for name, kind, body in zip(parts[1::3], parts[2::3], parts[3::3]):
        yield f"{kind} {name}", body


def plain(body):
    lines = [line for line in body.splitlines() if line and not line.startswith("--")]
    # The key of psql's restricted mode is random.
    return re.sub(r"\\(un)?restrict \S+", r"\\\1restrict", " ".join(" ".join(lines).split()))


LOOSE = [
    "DROP SCHEMA IF EXISTS loose CASCADE",
    "DROP SCHEMA IF EXISTS back CASCADE",
    "CREATE SCHEMA loose",
    "CREATE TABLE loose.a (id serial PRIMARY KEY, v varchar(5) DEFAULT 'x', n numeric(8,2))",
    "INSERT INTO loose.a (v, n) SELECT 'v' || i, i FROM generate_series(1, 500) AS i",
    "CREATE TABLE loose.b (k text, d date, x bytea, CONSTRAINT \"b key\" PRIMARY KEY (d, k))",
    "INSERT INTO loose.b VALUES ('q', '2020-01-01', '\\x00ff'), ('q', '2020-01-02', NULL)",
    "CREATE TABLE loose.keyless (a integer)",
    "INSERT INTO loose.keyless VALUES (1), (1)",
]


def dump_of(schema):
    code, dump, errors = run("pg_dump", "--no-owner", f"--schema={schema}")
    return "\n".join(line for line in dump.splitlines() if "restrict" not in line) if code == 0 else errors


def there_and_back():
    """Definitions and rows, without owners and identity columns, into the server that they are of."""
    for statement in LOOSE:
        run("psql", "-X", "-q", "-c", statement)
    dump = dump_of("loose")
    code, _, errors = run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", text=dump.replace("loose", "back"))
    print(f"there and back | {code} {errors} {dump_of('back').replace('back', 'loose') == dump} {len(dump.splitlines()) > 500}")


SWITCHES = [
    "-t dumped.orders -t dumped.counted",
    "-t dumped.o*",
    "--table=dumped.*",
    "-T dumped.orders -n dumped",
    "-n dumped -N loose",
    "-n d*d",
    "-n dumped --exclude-table-data=dumped.orders",
    "-n dumped -a --column-inserts",
    "-n dumped -a --inserts --rows-per-insert=2 --on-conflict-do-nothing",
    "-n dumped -O -x --no-comments",
    "-n dumped --section=pre-data",
    "-n dumped --section=post-data",
    "-n dumped -Fc",
    "-n dumped -j 2 -Fd",
    "-n dumped --clean --if-exists",
    "-n dumped --quote-all-identifiers",
    "-t nothing",
    "-n nothing",
    "--strict-names -n dumped -t nothing",
]


def switches():
    """Which entries each choice of pg_dump writes."""
    for options in SWITCHES:
        code, dump, errors = run("pg_dump", *options.split()) if "-F" not in options else archive(options)
        print(f"{options} | {code} {errors} {sorted(name for name, _ in entries(dump) if name != 'settings')}")


def archive(options):
    """What pg_restore reads of an archive."""
    with tempfile.TemporaryDirectory() as folder:
        dump = f"{folder}/dump"
        code, _, errors = run("pg_dump", *options.split(), "-f", dump)
        if code:
            return code, "", errors
        done = subprocess.run([f"{BIN}/pg_restore", "-f", "-", dump], capture_output=True, text=True)
        return done.returncode, done.stdout, " ".join(done.stderr.split())


def main():
    for statement in Path(__file__).with_name("schema.sql").read_text().split(";\n"):
        if statement.strip():
            code, _, errors = run("psql", "-X", "-q", "-c", statement)
            if code:
                print(f"?schema | {statement!r}: {errors}")
    for what, options in [("schema", ["--schema-only"]), ("rows", ["--data-only"]), ("inserts", ["--data-only", "--inserts"])]:
        code, dump, errors = run("pg_dump", *options, "--schema=dumped")
        print(f"{what}: end | {code} {errors}")
        for name, body in entries(dump):
            print(f"{what}: {name} | {plain(body)}")
        if what == "schema":
            for name, port in [("in PostgreSQL", POSTGRES), ("where it is from", PORT)]:
                run("psql", "-X", "-q", "-c", "DROP SCHEMA IF EXISTS again CASCADE", port=port)
                again = dump.replace("dumped", "again")
                code, out, errors = run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", text=again, port=port)
                print(f"restored {name} | {code} {errors}")
    there_and_back()
    switches()
    code, dump, errors = run("pg_dump", "--schema-only")
    print(f"whole database: end | {code} {errors}")


main()
