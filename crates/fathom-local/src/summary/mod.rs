//! The extractive summariser: the sentences that say most, in their own words.
