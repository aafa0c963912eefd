//! The benchmark as a host sees it: through its C table, on real engines, with small real decoders.

mod checking;
mod generating;
mod graphs;
mod proxy;
mod stand;
