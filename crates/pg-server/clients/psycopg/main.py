"""What a program does with psycopg 3, each step as one line: `step | result`.

    main.py HOST PORT
"""

import datetime as dt
import decimal
import logging
import sys
import threading
import time
import uuid

import psycopg
from psycopg import errors, sql
from psycopg.rows import dict_row

HOST, PORT = sys.argv[1], sys.argv[2]
WHERE = f"host={HOST} port={PORT} user=clients dbname=bennu"
UTC = dt.timezone.utc
# Its warnings name ports and addresses in memory.
logging.getLogger("psycopg").setLevel(logging.ERROR)
VALUES = {
    "boolean": True,
    "smallint": -32768,
    "integer": 2147483647,
    "bigint": -9223372036854775808,
    "real": 1.5,
    "double precision": 0.1,
    "numeric(12,3)": decimal.Decimal("-123456789.125"),
    "numeric": decimal.Decimal("12345678901234567890.0123456789"),
    "text": "text with ' and \\ and ü and 日本",
    "varchar(5)": "five5",
    "char(4)": "ab",
    "bytea": b"\x00\x01\xfe\xff",
    "date": dt.date(2013, 1, 31),
    "time": dt.time(23, 59, 59, 999999),
    "timestamp": dt.datetime(2013, 1, 31, 5, 15, 0, 123456),
    "timestamptz": dt.datetime(2013, 1, 31, 5, 15, 0, 123456, tzinfo=UTC),
    "uuid": uuid.UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    "interval": dt.timedelta(days=3, hours=-4, microseconds=5),
    "int[]": [1, None, -3],
    "text[]": ["a", 'with " and \\', "", None],
    "bool[]": [True, False],
    "float8[]": [0.5, -1e300],
    "numeric[]": [decimal.Decimal("1.25"), decimal.Decimal("-3")],
    "date[]": [dt.date(2020, 2, 29), None],
    "timestamptz[]": [dt.datetime(2020, 2, 29, 12, tzinfo=UTC)],
    "uuid[]": [uuid.UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")],
    "bytea[]": [b"\x00\xff", b""],
    "interval[]": [dt.timedelta(days=1), dt.timedelta(seconds=-1)],
}
# Those that columns of tables have.
STORED = {name: value for name, value in VALUES.items() if name != "interval" and not name.endswith("]")}


def step(name, work):
    """Prints what `work` returns, or the class and SQLSTATE of what it raises."""
    try:
        result = work()
    except psycopg.Error as error:
        result = f"{type(error).__name__} {error.sqlstate}"
    except Exception as error:  # a bug of the driver's or the server's
        result = f"!{type(error).__name__}: {error}"
    print(f"{name} | {result!r}", flush=True)


def connect(**options):
    return psycopg.connect(WHERE, **options)


def define(conn, *statements):
    """Definitions stand outside of transaction blocks."""
    conn.commit()
    conn.autocommit = True
    for statement in statements:
        conn.execute(statement)
    conn.autocommit = False


def types_there_and_back(conn):
    for binary in (False, True):
        form = "binary" if binary else "text"
        for name, value in VALUES.items():
            marker = "%b" if binary else "%t"

            def one():
                cur = conn.cursor(binary=binary)
                row = cur.execute(f"SELECT {marker}::{name}, NULL::{name}, pg_typeof({marker}::{name})::text", (value, value)).fetchone()
                return row

            step(f"{form} {name}", one)
            conn.rollback()


def tables(conn):
    columns = ", ".join(f"c{i} {name}" for i, name in enumerate(STORED))
    define(conn, "DROP TABLE IF EXISTS every", f"CREATE TABLE every (id int PRIMARY KEY, {columns})")
    marks = ", ".join(["%s"] * (len(STORED) + 1))
    step("insert", lambda: conn.execute(f"INSERT INTO every VALUES ({marks})", (1, *STORED.values())).statusmessage)
    step("insert NULLs", lambda: conn.execute(f"INSERT INTO every VALUES ({marks})", (2, *[None] * len(STORED))).rowcount)
    step("read back", lambda: conn.execute("SELECT * FROM every ORDER BY id").fetchall())
    step("read back binary", lambda: conn.cursor(binary=True).execute("SELECT * FROM every ORDER BY id").fetchall())
    step("as dictionaries", lambda: conn.cursor(row_factory=dict_row).execute("SELECT id, c2 FROM every ORDER BY id").fetchall())
    step("description", lambda: [(c.name, c.type_code, c.internal_size, c.precision, c.scale) for c in conn.execute("SELECT * FROM every").description])
    step("returning", lambda: conn.execute("UPDATE every SET c2 = c2 - 1 WHERE id = 1 RETURNING id, c2").fetchall())
    conn.commit()
    step("any of a list", lambda: conn.execute("SELECT id FROM every WHERE id = ANY(%s) ORDER BY id", ([1, 2, 3],)).fetchall())
    conn.rollback()
    step("lists of text", lambda: conn.execute("SELECT %s::text[]", (["a", "b c", None],)).fetchone())
    conn.rollback()
    step("identifiers", lambda: conn.execute(sql.SQL("SELECT {} FROM {} WHERE id = 1").format(sql.Identifier("c3"), sql.Identifier("every"))).fetchone())
    conn.commit()


def cursors(conn):
    define(conn, "DROP TABLE IF EXISTS numbers", "CREATE TABLE numbers (n int PRIMARY KEY, s text)")
    with conn.cursor() as cur:
        step("executemany", lambda: (cur.executemany("INSERT INTO numbers VALUES (%s, %s)", [(n, str(n)) for n in range(1000)]), cur.rowcount)[1])
        step("executemany returning", lambda: (cur.executemany("UPDATE numbers SET s = %s WHERE n = %s RETURNING n", [("x", 1), ("y", 2)], returning=True), [cur.fetchone(), cur.nextset(), cur.fetchone()])[1])
    conn.commit()
    step("fetchmany", lambda: conn.execute("SELECT n FROM numbers ORDER BY n").fetchmany(3))
    step("stream", lambda: [row[0] for row in conn.cursor().stream("SELECT n FROM numbers WHERE n < 5 ORDER BY n")])

    def named():
        with conn.cursor(name="portal") as cur:
            cur.itersize = 100
            cur.execute("SELECT n FROM numbers ORDER BY n")
            first = cur.fetchmany(250)
            return len(first), first[-1], len(cur.fetchall())

    step("server side cursor", named)
    conn.rollback()

    def named_with_parameters():
        with conn.cursor(name="with parameters", binary=True) as cur:
            cur.execute("SELECT n, s FROM numbers WHERE n >= %s ORDER BY n", (995,))
            cur.scroll(2)
            return cur.description[1].name, [n for n, _ in cur]

    step("server side cursor with parameters", named_with_parameters)
    conn.rollback()
    step("prepare", lambda: [conn.execute("SELECT s FROM numbers WHERE n = %s", (n,), prepare=True).fetchone()[0] for n in range(8)])
    conn.commit()


def pipelines(conn):
    def pipeline():
        with conn.pipeline():
            a = conn.execute("SELECT 1")
            b = conn.execute("SELECT %s::int + 1", (1,))
            c = conn.execute("INSERT INTO numbers VALUES (5000, 'p')")
        return a.fetchone(), b.fetchone(), c.rowcount

    step("pipeline", pipeline)
    conn.commit()

    def failing():
        with conn.pipeline():
            conn.execute("INSERT INTO numbers VALUES (6000, 'p')")
            conn.execute("INSERT INTO numbers VALUES (5000, 'twice')")
            conn.execute("INSERT INTO numbers VALUES (6001, 'p')")

    step("pipeline that fails", failing)
    conn.rollback()
    step("after it", lambda: conn.execute("SELECT count(*) FROM numbers WHERE n >= 6000").fetchone())
    conn.rollback()


def copies(conn):
    define(conn, "DROP TABLE IF EXISTS copied", "CREATE TABLE copied (a int PRIMARY KEY, b text, c numeric(6,2), d timestamptz)")

    def rows_in():
        with conn.cursor() as cur:
            with cur.copy("COPY copied FROM STDIN") as copy:
                copy.write_row((1, "one\ttab", decimal.Decimal("1.5"), dt.datetime(2020, 1, 1, tzinfo=UTC)))
                copy.write_row((2, None, None, None))
            return cur.rowcount

    step("copy rows in", rows_in)

    def csv_in():
        with conn.cursor() as cur:
            with cur.copy("COPY copied (a, b, c) FROM STDIN (FORMAT csv, HEADER)") as copy:
                copy.write('a,b,c\n3,"quoted "" and, comma",3\n4,,\n')
            return cur.rowcount

    step("copy csv in", csv_in)

    def binary_in():
        with conn.cursor() as cur:
            with cur.copy("COPY copied (a, b) FROM STDIN (FORMAT binary)") as copy:
                copy.set_types(["int4", "text"])
                copy.write_row((5, "binary"))
            return cur.rowcount

    step("copy binary in", binary_in)

    def out(statement, types=None):
        with conn.cursor() as cur, cur.copy(statement) as copy:
            if types:
                copy.set_types(types)
                return list(copy.rows())
            return b"".join(bytes(block) for block in copy)

    conn.commit()
    step("copy text out", lambda: out("COPY (SELECT * FROM copied ORDER BY a) TO STDOUT"))
    step("copy csv out", lambda: out("COPY (SELECT a, b, c FROM copied ORDER BY a) TO STDOUT (FORMAT csv, HEADER, FORCE_QUOTE (b))"))
    step("copy rows out", lambda: out("COPY (SELECT a, b FROM copied ORDER BY a) TO STDOUT", ["int4", "text"]))
    step("copy binary out", lambda: out("COPY (SELECT a, b FROM copied ORDER BY a) TO STDOUT (FORMAT binary)", ["int4", "text"]))
    conn.rollback()

    def bad_row():
        with conn.cursor() as cur, cur.copy("COPY copied (a) FROM STDIN") as copy:
            copy.write("100\nnot a number\n")

    step("copy of a bad row", bad_row)
    conn.rollback()
    step("nothing of it", lambda: conn.execute("SELECT count(*) FROM copied WHERE a = 100").fetchone())

    def given_up():
        with conn.cursor() as cur, cur.copy("COPY copied (a) FROM STDIN") as copy:
            copy.write("100\n")
            raise ValueError("no")

    step("copy given up", given_up)
    conn.rollback()


def failures(conn):
    for name, statement in {
        "syntax": "SELEC 1",
        "no table": "SELECT * FROM nowhere",
        "no column": "SELECT nothing FROM numbers",
        "no function": "SELECT nothing(1)",
        "duplicate key": "INSERT INTO numbers VALUES (1, 'x')",
        "not null": "INSERT INTO numbers VALUES (NULL, 'x')",
        "division": "SELECT 1 / 0",
        "bad number": "SELECT 'x'::int",
        "bad date": "SELECT '2020-02-30'::date",
        "out of range": "SELECT 32768::smallint",
        "too long": "INSERT INTO every (id, c9) VALUES (9, 'too long for it')",
        "two rows": "SELECT (SELECT n FROM numbers)",
        "grouping": "SELECT n, count(*) FROM numbers",
        "ambiguous": "SELECT n FROM numbers a, numbers b",
        "type mismatch": "SELECT n FROM numbers WHERE n = true",
    }.items():
        step(f"error: {name}", lambda: conn.execute(statement).fetchall())
        conn.rollback()

    def diagnostics():
        try:
            conn.execute("INSERT INTO numbers VALUES (1, 'x')")
        except errors.UniqueViolation as error:
            conn.rollback()
            d = error.diag
            return d.severity, d.sqlstate, d.message_primary, d.message_detail, d.table_name, d.constraint_name

    step("diagnostics", diagnostics)

    def position():
        try:
            conn.execute("SELECT *\nFROM nowhere")
        except errors.UndefinedTable as error:
            conn.rollback()
            return error.diag.message_primary, error.diag.statement_position

    step("position", position)

    def poisoned():
        try:
            conn.execute("SELECT 1 / 0")
        except psycopg.Error:
            pass
        return conn.execute("SELECT 1").fetchone()

    step("failed transaction", poisoned)
    conn.rollback()


def transactions(conn):
    def undone():
        with conn.transaction():
            conn.execute("INSERT INTO numbers VALUES (7000, 'gone')")
            raise psycopg.Rollback()

    step("rolled back", undone)
    step("not there", lambda: conn.execute("SELECT count(*) FROM numbers WHERE n = 7000").fetchone())
    conn.commit()
    step("status", lambda: (conn.info.transaction_status.name, conn.execute("SELECT 1").fetchone(), conn.info.transaction_status.name))
    conn.rollback()
    step("several statements", lambda: [c for c in (conn.execute("SELECT 1; SELECT 2, 3"),)][0].fetchall())
    conn.rollback()
    auto = connect(autocommit=True)
    step("error: duplicate table", lambda: auto.execute("CREATE TABLE numbers (a int)"))
    step("implicit transaction", lambda: auto.execute("INSERT INTO numbers VALUES (7001, 'a'); SELECT 1 / 0"))
    step("implicit transaction undone", lambda: auto.execute("SELECT count(*) FROM numbers WHERE n = 7001").fetchone())
    auto.close()


def notices(conn):
    heard = []
    conn.add_notice_handler(lambda d: heard.append((d.severity, d.sqlstate, d.message_primary)))
    conn.commit()
    conn.autocommit = True
    conn.execute("DROP TABLE IF EXISTS never_there")
    conn.execute("COMMIT")
    conn.autocommit = False
    step("notices", lambda: heard)


def session(conn):
    step("encoding", lambda: (conn.info.encoding, conn.info.parameter_status("server_version")[:2], conn.info.parameter_status("integer_datetimes")))
    step("time zone", lambda: (conn.execute("SET TIME ZONE 'Europe/Rome'").statusmessage, conn.info.parameter_status("TimeZone"), str(conn.execute("SELECT '2020-07-01 12:00+00'::timestamptz").fetchone()[0])))
    step("time zone as text", lambda: conn.execute("SELECT '2020-07-01 12:00+00'::timestamptz::text").fetchone())
    step("time zone of input", lambda: conn.execute("SELECT %s::timestamptz = '2020-07-01 10:00+00'", ("2020-07-01 12:00",)).fetchone())
    conn.rollback()
    other = psycopg.connect(WHERE, application_name="clients", options="-c timezone=Asia/Tokyo -c statement_timeout=5000")
    step("startup options", lambda: other.execute("SELECT current_setting('timezone'), current_setting('statement_timeout'), current_setting('application_name')").fetchone())
    other.close()
    step("no such database", lambda: psycopg.connect(f"host={HOST} port={PORT} user=clients dbname=nowhere"))

    def cancelled():
        timer = threading.Timer(0.3, conn.cancel_safe)
        timer.start()
        try:
            conn.execute("SELECT count(*) FROM numbers a, numbers b, numbers c, numbers d").fetchone()
        finally:
            timer.join()

    step("cancel", cancelled)
    conn.rollback()

    def timed_out():
        conn.execute("SET LOCAL statement_timeout = '200ms'")
        conn.execute("SELECT count(*) FROM numbers a, numbers b, numbers c, numbers d").fetchone()

    step("statement timeout", timed_out)
    conn.rollback()
    step("goes on", lambda: conn.execute("SELECT 'yes'").fetchone())

    def dropped():
        lost = connect()
        lost.execute("INSERT INTO numbers VALUES (8000, 'locked')")
        lost.pgconn.finish()
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            try:
                conn.execute("SET LOCAL lock_timeout = '1s'")
                return conn.execute("INSERT INTO numbers VALUES (8000, 'free')").rowcount
            except psycopg.errors.SerializationFailure:
                conn.rollback()

    step("locks of a lost client", dropped)
    conn.rollback()


def main():
    conn = connect()
    types_there_and_back(conn)
    conn.rollback()
    tables(conn)
    cursors(conn)
    pipelines(conn)
    copies(conn)
    failures(conn)
    transactions(conn)
    notices(conn)
    session(conn)
    conn.close()


main()
