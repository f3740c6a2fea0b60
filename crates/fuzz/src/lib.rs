//! Fuzz targets for all that parses bytes, with their corpora.
