//! Runs the sqllogictest files by their schedule.
