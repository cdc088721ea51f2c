//! Statistics: pure functions over slices.
