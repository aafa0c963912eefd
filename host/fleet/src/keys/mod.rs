//! Who may do what in a fleet. A folder of keys issues passes; a pass is a file that says where the server is, and who carries it. Nothing is
//! asked of the server to issue one.
//!
//! - `role`: what each kind of user may do there. `token`: a user's name and role, signed (a JSON Web Token as NATS has them).
//! - `pass`: the file. `folder`: the keys of a fleet, its users, and what its server is told of them. `secret`: how
//!   both are written.
//!
//! A fleet has one operator, one account, and in it a signing key for each role: whoever was signed by it has that role's permissions and no
//! others, here and on the server.

mod folder;
mod pass;
mod role;
mod secret;
mod token;

pub use folder::{Folder, KeysError, User};
pub use pass::{Pass, PassError, SUFFIX, find, only};
pub use role::Role;
pub use token::{Bearer, Signed, TokenError, signed};
