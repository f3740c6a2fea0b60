//! Text to statement, in the spellings of PostgreSQL and Phoenix.
