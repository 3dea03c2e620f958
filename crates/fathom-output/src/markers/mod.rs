//! Blocks with a mark at the start of a line, read from a stream, and the channels they go to.
