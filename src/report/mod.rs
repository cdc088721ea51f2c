//! Reports: text for mails, JSON for programs.
