//! Weights: where they come from, how they are checked, where they lie.
