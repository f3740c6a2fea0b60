#!/bin/sh
# Unpacks the data and runs the story of flights.sql against a running server.
# Usage: examples/flights/run.sh [HOST [PORT]]   (needs psql and gzip; defaults 127.0.0.1 5433)
set -eu
cd "$(dirname "$0")"
[ -f flights.csv ] || gzip -dc flights.csv.gz > flights.csv
exec psql -h "${1:-127.0.0.1}" -p "${2:-5433}" -d bennu -v ON_ERROR_STOP=1 -f flights.sql
