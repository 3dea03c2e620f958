//! Filters of what leaves: personal data and secrets, then content, then profanity.
