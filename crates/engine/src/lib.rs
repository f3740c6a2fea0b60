//! The one door for front ends: sessions, statements, transactions.
