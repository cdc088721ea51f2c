//! Monitors: what samples a host during a trial.
