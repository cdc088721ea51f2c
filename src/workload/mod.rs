//! Workloads: what runs on a host.
