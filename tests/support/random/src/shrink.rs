//! Makes a failing program small: takes choices away, or makes them simpler, as long as it still fails.
