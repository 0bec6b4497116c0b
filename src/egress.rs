//! Egress policy: the hosts to which a command may send requests.

use ipnet::IpNet;
use lodeseek_net::egress::{Egress, EgressPolicy, IriPrefix, OtherHosts};
use lodeseek_net::sparql_client::{ClientOptions, SparqlClient};
use std::sync::Arc;

#[derive(clap::Args, Debug)]
pub(super) struct EgressArguments {
    /// Allow SERVICE to query this endpoint, or all endpoints with this IRI prefix (up to the end of a path segment).
    /// Repeatable. Default: no endpoint is allowed.
    #[arg(long, value_name = "IRI")]
    service: Vec<IriPrefix>,
    /// SERVICE requests to endpoints that --service does not allow.
    #[arg(long, value_enum, default_value_t = Others::Refused)]
    other_services: Others,
    /// Allow a private network for the endpoints and portals named on the command line only (127.0.0.0/8, 10.1.0.0/16). Repeatable.
    #[arg(long, alias = "inner-network", value_name = "CIDR")]
    allow_private_network: Vec<IpNet>,
}

/// Treatment of hosts that no argument allows.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
pub(super) enum Others {
    /// Rejects all requests to them.
    Refused,
    /// Allows requests if every address of the host is public.
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
    pub(super) fn private_networks(&self) -> &[IpNet] {
        &self.allow_private_network
    }

    /// Returns the egress policy of `SERVICE`.
    pub(super) fn policy(&self) -> EgressPolicy {
        EgressPolicy {
            listed: self.service.clone(),
            others: self.other_services.into(),
            private_networks: self.allow_private_network.clone(),
        }
    }

    /// Returns a client that may also query the endpoint of another argument.
    pub(super) fn client_for(&self, endpoint: IriPrefix, options: ClientOptions) -> SparqlClient {
        let mut policy = self.policy();
        policy.listed.push(endpoint);
        SparqlClient::new(Arc::new(Egress::new(policy)), options)
    }

    /// Returns a client with the policy of `SERVICE` and default options.
    pub(super) fn client(&self) -> Arc<SparqlClient> {
        Arc::new(SparqlClient::new(Arc::new(Egress::new(self.policy())), ClientOptions::default()))
    }
}
