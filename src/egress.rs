//! Whom the program may ask.

use ipnet::IpNet;
use lodeseek_net::egress::{Egress, EgressPolicy, IriPrefix, OtherHosts};
use lodeseek_net::sparql_client::{ClientOptions, SparqlClient};
use std::sync::Arc;

#[derive(clap::Args, Debug)]
pub(super) struct EgressArguments {
    /// An endpoint that SERVICE may ask, or the beginning of the IRIs of several, up to the end of a path segment; any
    /// number of times. Without it none is asked.
    #[arg(long, value_name = "IRI")]
    service: Vec<IriPrefix>,
    /// Whether SERVICE may ask endpoints that are not named by --service.
    #[arg(long, value_enum, default_value_t = Others::Refused)]
    other_services: Others,
    /// Allow a private network for what --service names only (127.0.0.0/8, 10.1.0.0/16). Repeatable.
    #[arg(long, alias = "inner-network", value_name = "CIDR")]
    allow_private_network: Vec<IpNet>,
}

/// What becomes of hosts that no argument names.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
pub(super) enum Others {
    /// They are refused.
    Refused,
    /// They are asked where every address of the host is public.
    AnyPublic,
}

impl From<Others> for OtherHosts {
    fn from(others: Others) -> Self {
        match others {
            Others::Refused => Self::Refused,
            Others::AnyPublic => Self::AnyPublic,
        }
    }
}

impl EgressArguments {
    /// Returns the allowed private networks.
    pub(super) fn allow_private_network(&self) -> &[IpNet] {
        &self.allow_private_network
    }

    pub(super) fn policy(&self) -> EgressPolicy {
        EgressPolicy {
            listed: self.service.clone(),
            others: self.other_services.into(),
            private_networks: self.allow_private_network.clone(),
        }
    }

    /// A client that may also ask one endpoint that another argument names.
    pub(super) fn client_of(&self, endpoint: IriPrefix, options: ClientOptions) -> SparqlClient {
        let mut policy = self.policy();
        policy.listed.push(endpoint);
        SparqlClient::new(Arc::new(Egress::new(policy)), options)
    }

    pub(super) fn client(&self) -> Arc<SparqlClient> {
        Arc::new(SparqlClient::new(Arc::new(Egress::new(self.policy())), ClientOptions::default()))
    }
}
