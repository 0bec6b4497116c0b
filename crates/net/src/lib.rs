//! Outgoing requests: one egress policy, one HTTP client, one SPARQL protocol client.
//!
//! [`egress`] decides which addresses may be requested and performs every request. [`sparql_client`] queries SPARQL endpoints
//! through it.

pub mod egress;
pub mod sparql_client;
