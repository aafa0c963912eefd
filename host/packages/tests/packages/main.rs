//! Plugin packages through the crate's own door, with real files: archives, a compiled library, minisign keys, a server on the loopback
//! interface, and the machine's pip and npm.
//!
//! `world` and `server` are what the tests share; each other file is a concern.

mod archives;
mod clients;
mod contents;
mod indexes;
mod installing;
mod packing;
mod server;
mod signatures;
mod world;
