//! How hosts are reached, asked of OpenSSH itself.
