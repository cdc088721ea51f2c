//! Records from what people already have: mails with figures.
