//! The contract from outside: the header as compilers of C and C++ see it, and plugins through their C tables.

mod aliases;
mod backends;
mod broken;
mod compile;
mod functions;
mod growth;
mod guards;
mod header;
mod layout;
mod loading;
mod misbehaviour;
mod model;
mod profile;
mod sdk;
mod sensors;
mod versions;
