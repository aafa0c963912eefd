//! The benchmarks as a host sees them: through their C tables, on real engines, with small real decoders.

mod checking;
mod generating;
mod graphs;
mod proxy;
mod serving;
mod stand;
