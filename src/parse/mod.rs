//! Raw bytes to series and values.
