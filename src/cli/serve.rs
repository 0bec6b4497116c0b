//! `lodeseek serve`: the HTTP face.

use super::Done;
use crate::server::{ServeOptions, serve};
use crate::store::SparqlLimits;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    /// The address to listen on.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    bind: SocketAddr,
    /// Seconds until a SPARQL query is given up.
    #[arg(long, value_name = "S", default_value_t = 30)]
    sparql_deadline: u64,
    /// Rows of a SPARQL answer at most.
    #[arg(long, value_name = "N", default_value_t = SparqlLimits::default().rows)]
    sparql_rows: usize,
}

pub(super) fn run(home: &Path, arguments: &Arguments) -> anyhow::Result<Done> {
    let sparql = SparqlLimits {
        deadline: Duration::from_secs(arguments.sparql_deadline),
        rows: arguments.sparql_rows,
        ..SparqlLimits::default()
    };
    serve(home, &ServeOptions { bind: arguments.bind, sparql })?;
    Ok(Done::Something)
}
