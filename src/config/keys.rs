//! The keys of the configuration: the single list for checks, variables, `lodeseek config` and the reference.

use lodeseek_cli::config::{
    ENCODERS_DEVICE, ENCODERS_ONNXRUNTIME, ENCODERS_THREADS, Key, Kind, LOG_FILTER, MODELS,
};
use lodeseek_engine::CrossEncoding;
use lodeseek_index::vectors::Precision;
use lodeseek_rerank::Combination;
use lodeseek_server::{ConnectionLimits, Portal, SnippetLimits};
use lodeseek_sparql::SparqlLimits;

fn none() -> String {
    "none".to_owned()
}

/// All keys, in the order of the reference.
pub(crate) const KEYS: &[Key] = &[
    Key {
        path: "base",
        kind: Kind::Text,
        flags: "load --base, harvest --base",
        help: "First part of all IRIs. Written when the home is created; `lodeseek rebase` changes it",
        default: || lodeseek_catalog::Iris::DEFAULT_BASE.to_owned(),
        example: "\"http://localhost:7878/\"",
    },
    Key {
        path: "public-url",
        kind: Kind::Text,
        flags: "serve --public-url",
        help: "Address at which clients reach the server: links, feeds and sitemaps begin with it",
        default: || "the base; with the default base the address of the server".to_owned(),
        example: "\"https://data.example.org/\"",
    },
    Key {
        path: "ranking",
        kind: Kind::Text,
        flags: "--ranking",
        help: "Ranking of searches: words, balanced or best",
        default: || "as indexed, else best".to_owned(),
        example: "\"best\"",
    },
    Key {
        path: "analysis",
        kind: Kind::Text,
        flags: "index --analysis",
        help: "Text analysis: multilingual, english or acordar",
        default: || "as indexed, else multilingual".to_owned(),
        example: "\"multilingual\"",
    },
    Key {
        path: "content",
        kind: Kind::Text,
        flags: "load --no-store",
        help: "Place of the content of loaded datasets: store, or index-only (files alone, without SPARQL over it)",
        default: || "store".to_owned(),
        example: "\"index-only\"",
    },
    Key {
        path: "tables",
        kind: Kind::Text,
        flags: "",
        help: "Tables, workbooks, JSON and XML of loaded datasets: store (as content), index-only (searched, without SPARQL over the dataset), or off (not read)",
        default: || "store".to_owned(),
        example: "\"index-only\"",
    },
    Key {
        path: "keep-files",
        kind: Kind::Boolean,
        flags: "",
        help: "Keep the bytes of loaded files, compressed, for downloads; false serves only the formats that are made of the content",
        default: || "true".to_owned(),
        example: "false",
    },
    MODELS,
    Key {
        path: "portal.title",
        kind: Kind::Text,
        flags: "serve --title",
        help: "Name of the portal, or names by language as { en = \"…\", de = \"…\" }",
        default: || Portal::default().title.default_value().clone(),
        example: "\"Open data of Northport\"",
    },
    Key {
        path: "portal.description",
        kind: Kind::Text,
        flags: "",
        help: "Description of the portal, or descriptions by language",
        default: || Portal::default().description.default_value().clone(),
        example: "\"All datasets of the city\"",
    },
    Key {
        path: "portal.publisher",
        kind: Kind::Text,
        flags: "",
        help: "Name of the portal's publisher, or names by language",
        default: || Portal::default().publisher.default_value().clone(),
        example: "\"City of Northport\"",
    },
    Key {
        path: "portal.publisher-iri",
        kind: Kind::Text,
        flags: "",
        help: "IRI of the publisher",
        default: none,
        example: "\"https://northport.example.org/\"",
    },
    Key {
        path: "portal.questions",
        kind: Kind::List,
        flags: "",
        help: "Questions on the start page that the datasets answer, at most three, or lists by language",
        default: || "questions for frequent topics".to_owned(),
        example: "[\"Where do linden trees grow in Northport?\"]",
    },
    Key {
        path: "portal.logo",
        kind: Kind::Path,
        flags: "",
        help: "Image in the header of every page: svg, png, webp, jpg or gif",
        default: none,
        example: "\"logo.svg\"",
    },
    Key {
        path: "portal.color",
        kind: Kind::Text,
        flags: "",
        help: "Colour of links and buttons on light pages, as #rrggbb; its contrast must be 4.5 at least",
        default: || "#14532d".to_owned(),
        example: "\"#1e3a8a\"",
    },
    Key {
        path: "portal.dark-color",
        kind: Kind::Text,
        flags: "",
        help: "Colour of links and buttons on dark pages, as #rrggbb; its contrast must be 4.5 at least",
        default: || "#86efac".to_owned(),
        example: "\"#93c5fd\"",
    },
    Key {
        path: "portal.imprint",
        kind: Kind::Text,
        flags: "",
        help: "Link of the footer to the imprint: an address, a path such as /theme/imprint.html, or an e-mail address",
        default: none,
        example: "\"https://northport.example.org/imprint\"",
    },
    Key {
        path: "portal.privacy",
        kind: Kind::Text,
        flags: "",
        help: "Link of the footer to the privacy policy",
        default: none,
        example: "\"https://northport.example.org/privacy\"",
    },
    Key {
        path: "portal.accessibility",
        kind: Kind::Text,
        flags: "",
        help: "Link of the footer to the accessibility statement",
        default: none,
        example: "\"https://northport.example.org/accessibility\"",
    },
    Key {
        path: "portal.contact",
        kind: Kind::Text,
        flags: "",
        help: "Link of the footer to the contact",
        default: none,
        example: "\"open-data@northport.example.org\"",
    },
    Key {
        path: "portal.theme",
        kind: Kind::Path,
        flags: "",
        help: "Folder with styles, texts and files of the pages; see the guide Brand the pages",
        default: none,
        example: "\"theme\"",
    },
    Key {
        path: "encoders.dpr",
        kind: Kind::Model,
        flags: "--dpr",
        help: "Model with one vector for each text: a name, or the path of a folder",
        default: || "as indexed, else lodeseek-minilm".to_owned(),
        example: "\"lodeseek-minilm\"",
    },
    Key {
        path: "encoders.colbert",
        kind: Kind::Model,
        flags: "--colbert",
        help: "Model with one vector for each token: a name, or the path of a folder",
        default: || "as indexed, else lodeseek-minilm".to_owned(),
        example: "\"lodeseek-minilm\"",
    },
    Key {
        path: "encoders.sparse",
        kind: Kind::Model,
        flags: "--sparse",
        help: "Learned sparse model with one weight for each term: a name, or the path of a folder",
        default: || "as indexed, else none".to_owned(),
        example: "\"/srv/models/splade\"",
    },
    Key {
        path: "encoders.pooling",
        kind: Kind::Text,
        flags: "--pooling",
        help: "Pooling of token vectors, for a folder of encoders.dpr that does not state it",
        default: || "as indexed, else as the folder states".to_owned(),
        example: "\"mean\"",
    },
    Key {
        path: "encoders.cross-encoder",
        kind: Kind::Model,
        flags: "--cross-encoder",
        help: "Cross-encoder that orders the ten best datasets: a name, or the path of a folder",
        default: none,
        example: "\"/srv/models/cross-encoder\"",
    },
    Key {
        path: "encoders.cross-encoder-deadline",
        kind: Kind::Quantity("milliseconds"),
        flags: "--cross-encoder-deadline",
        help: "Maximum time of the cross-encoder for a query, in milliseconds",
        default: || CrossEncoding::DEFAULT_DEADLINE.as_millis().to_string(),
        example: "1000",
    },
    Key {
        path: "encoders.onnx",
        kind: Kind::Text,
        flags: "--onnx",
        help: "Name of the ONNX file in the folders of the models",
        default: || "model.onnx, else model_int8.onnx".to_owned(),
        example: "\"model_int8.onnx\"",
    },
    ENCODERS_DEVICE,
    ENCODERS_THREADS,
    ENCODERS_ONNXRUNTIME,
    Key {
        path: "encoders.vectors",
        kind: Kind::Text,
        flags: "index --vectors, harvest --vectors",
        help: "Number format of stored vectors: f16, int8 for half the size, or int2 for an eighth (of texts: int8)",
        default: || Precision::default().to_string(),
        example: "\"f16\"",
    },
    Key {
        path: "fusion.pool",
        kind: Kind::Text,
        flags: "--pool",
        help: "Ranking models whose best datasets are candidates, as `lodeseek tune` learns them",
        default: || "fsdm,bm25".to_owned(),
        example: "\"fsdm,bm25\"",
    },
    Key {
        path: "fusion.weights",
        kind: Kind::Text,
        flags: "--fusion-weights",
        help: "Fusion weights of the rankings, as `lodeseek tune` learns them",
        default: || "equal".to_owned(),
        example: "\"1,0.5,1,1\"",
    },
    Key {
        path: "fusion.popularity",
        kind: Kind::Text,
        flags: "--popularity",
        help: "Weight of popularity, as `lodeseek tune` learns it",
        default: none,
        example: "\"0.08\"",
    },
    Key {
        path: "fusion.method",
        kind: Kind::Text,
        flags: "--fusion",
        help: "Fusion of the rankings by models and by vectors: rrf, combsum, combmnz or mixed; none ranks by vectors only",
        default: || "combsum".to_owned(),
        example: "\"combsum\"",
    },
    Key {
        path: "rerank.pool-depth",
        kind: Kind::Number,
        flags: "--pool-depth",
        help: "Number of candidates of each ranking model",
        default: || "30; with works and descriptions alone: 100".to_owned(),
        example: "30",
    },
    Key {
        path: "rerank.dense-depth",
        kind: Kind::Number,
        flags: "--dense-depth",
        help: "Number of additional candidates by vectors of texts, and by learned sparse models; 0 disables",
        default: || "10; with works and descriptions alone: 100".to_owned(),
        example: "10",
    },
    Key {
        path: "rerank.combine",
        kind: Kind::Text,
        flags: "--combine",
        help: "Combination of the scores of metadata and data: max, sum, mean, metadata or data",
        default: || Combination::default().to_string(),
        example: "\"max\"",
    },
    Key {
        path: "rerank.works",
        kind: Kind::Number,
        flags: "--works",
        help: "Number of works nearest to the query that vote for the datasets they use; 0 ignores works",
        default: || "50; with descriptions alone and a long query: 25".to_owned(),
        example: "50",
    },
    Key {
        path: "rerank.min-similarity",
        kind: Kind::Text,
        flags: "--min-similarity",
        help: "Minimum similarities of a match, of each model; 0 disables",
        default: || "as the folders of the models state".to_owned(),
        example: "\"0.25,0.3\"",
    },
    Key {
        path: "server.bind",
        kind: Kind::Text,
        flags: "serve --bind",
        help: "Address or host name, and port, to listen on",
        default: || crate::serve::DEFAULT_BIND.to_owned(),
        example: "\"127.0.0.1:7878\"",
    },
    Key {
        path: "server.admin",
        kind: Kind::Boolean,
        flags: "serve --admin",
        help: "Allow changes while serving: by commands on this machine, and by clients with a token",
        default: || false.to_string(),
        example: "true",
    },
    Key {
        path: "server.tls-certificate",
        kind: Kind::Path,
        flags: "serve --tls-certificate",
        help: "File with the certificate of the server and those of its issuers (PEM), for HTTPS",
        default: || "none: plain HTTP".to_owned(),
        example: "\"certificate.pem\"",
    },
    Key {
        path: "server.tls-key",
        kind: Kind::Path,
        flags: "serve --tls-key",
        help: "File with the private key of the certificate (PEM); other users may not read it",
        default: none,
        example: "\"key.pem\"",
    },
    Key {
        path: "server.max-connections",
        kind: Kind::Number,
        flags: "",
        help: "Maximum number of open connections; a further one takes the place of one without a request, or receives status 503 or 429",
        default: || ConnectionLimits::default().total.to_string(),
        example: "512",
    },
    Key {
        path: "server.workers",
        kind: Kind::Boolean,
        flags: "harvest --no-workers, load --no-workers",
        help: "Evaluate expensive queries, and parse files of portals and clients, in worker processes; false processes them in the process itself",
        default: || true.to_string(),
        example: "true",
    },
    Key {
        path: "server.worker-memory",
        kind: Kind::Quantity("megabytes"),
        flags: "harvest --worker-memory, load --worker-memory",
        help: "Memory of a worker process in megabytes; a query or a file that needs more is rejected",
        default: || SparqlLimits::default().memory_megabytes.to_string(),
        example: "1024",
    },
    Key {
        path: "server.trusted-proxies",
        kind: Kind::List,
        flags: "serve --trusted-proxy",
        help: "IP addresses of reverse proxies whose headers X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host and Forwarded are trusted",
        default: none,
        example: "[\"10.0.0.1\"]",
    },
    Key {
        path: "server.allowed-hosts",
        kind: Kind::List,
        flags: "serve --allowed-host",
        help: "Host names of requests that a server on a loopback address accepts, beside localhost and the host of the public URL; others get status 421",
        default: none,
        example: "[\"data.example.org\"]",
    },
    Key {
        path: "server.backup-folder",
        kind: Kind::Path,
        flags: "",
        help: "Folder of the backups that operators request at /operator/backup, of a server with --admin",
        default: none,
        example: "\"/var/backups/lodeseek\"",
    },
    Key {
        path: "server.operator-token-file",
        kind: Kind::Path,
        flags: "serve --operator-token-file",
        help: "File with the operator token, at least 16 characters",
        default: || "none: only this machine has access".to_owned(),
        example: "\"operator-token\"",
    },
    Key {
        path: "server.editor",
        kind: Kind::Path,
        flags: "serve --editor",
        help: "Folder of a SPARQL editor, as built by `make web`",
        default: || "none: a plain form".to_owned(),
        example: "\"editor\"",
    },
    Key {
        path: "server.snippet-deadline",
        kind: Kind::Quantity("milliseconds"),
        flags: "",
        help: "Time limit of a snippet computed on demand, in milliseconds; the best found so far is returned",
        default: || SnippetLimits::default().deadline.as_millis().to_string(),
        example: "2000",
    },
    Key {
        path: "server.graph-cache",
        kind: Kind::Quantity("megabytes"),
        flags: "",
        help: "Size of the cache of dataset graphs, in megabytes",
        default: || (SnippetLimits::default().cache_bytes >> 20).to_string(),
        example: "256",
    },
    Key {
        path: "server.snapshot",
        kind: Kind::Text,
        flags: "serve --snapshot",
        help: "Location of snapshots that the server serves instead of the home: s3://BUCKET/PREFIX or file:///FOLDER",
        default: none,
        example: "\"s3://bucket/portal\"",
    },
    Key {
        path: "server.snapshot-cache",
        kind: Kind::Path,
        flags: "serve --cache",
        help: "Folder for the files of snapshots; one server uses it at a time",
        default: || "a folder of the location in the user's cache folder".to_owned(),
        example: "\"/var/cache/lodeseek\"",
    },
    Key {
        path: "server.snapshot-key",
        kind: Kind::Path,
        flags: "serve --snapshot-key",
        help: "File with the public key of the publisher (Ed25519 in PEM); snapshots without its signature are not served",
        default: || "none: the chain of records is checked only".to_owned(),
        example: "\"publisher.pub.pem\"",
    },
    Key {
        path: "server.snapshot-interval",
        kind: Kind::Quantity("seconds"),
        flags: "",
        help: "Time between two checks for a new snapshot, in seconds",
        default: || crate::replica::DEFAULT_INTERVAL.as_secs().to_string(),
        example: "60",
    },
    Key {
        path: "sparql.deadline",
        kind: Kind::Quantity("seconds"),
        flags: "",
        help: "Time limit of a query, in seconds; then it is cancelled with status 503",
        default: || SparqlLimits::default().deadline.as_secs().to_string(),
        example: "30",
    },
    Key {
        path: "sparql.rows",
        kind: Kind::Number,
        flags: "",
        help: "Maximum number of rows of a result; longer results are truncated",
        default: || SparqlLimits::default().rows.to_string(),
        example: "100000",
    },
    Key {
        path: "sparql.megabytes",
        kind: Kind::Quantity("megabytes"),
        flags: "",
        help: "Maximum size of a result, in megabytes of memory; larger results are truncated",
        default: || SparqlLimits::default().answer_megabytes.to_string(),
        example: "1024",
    },
    Key {
        path: "sparql.queries",
        kind: Kind::Number,
        flags: "",
        help: "Maximum number of concurrent queries; further queries wait",
        default: || SparqlLimits::default().concurrent.to_string(),
        example: "8",
    },
    Key {
        path: "sparql.queries-of-client",
        kind: Kind::Number,
        flags: "",
        help: "Maximum number of concurrent queries of one client address",
        default: || "half of sparql.queries".to_owned(),
        example: "4",
    },
    Key {
        path: "service.allow",
        kind: Kind::List,
        flags: "--service",
        help: "Endpoints, or IRI prefixes of endpoints, that SERVICE may query",
        default: none,
        example: "[\"https://query.wikidata.org/sparql\"]",
    },
    Key {
        path: "service.others",
        kind: Kind::Text,
        flags: "--other-services",
        help: "SERVICE requests to other endpoints: refused or any-public",
        default: || crate::egress::Others::default().to_string(),
        example: "\"refused\"",
    },
    Key {
        path: "service.private-networks",
        kind: Kind::List,
        flags: "--allow-private-network",
        help: "Private networks in which allowed endpoints and harvested sources may be",
        default: none,
        example: "[\"10.1.0.0/16\"]",
    },
    Key {
        path: "harvest",
        kind: Kind::Harvests,
        flags: "serve --harvest, --every, --download",
        help: "Sources that `serve` harvests repeatedly: `source` (address or path), `protocol` (default auto), `every` (default 6h), `download` (also files with RDF or tables, default false), `hosts` (further hosts or IRI prefixes of its files, default none)",
        default: none,
        example: "source = \"https://portal.example.org/catalog.ttl\"\n# every = \"6h\"\n# download = true\n# hosts = [\"https://files.example.org/\"]",
    },
    LOG_FILTER,
    Key {
        path: "log.otlp",
        kind: Kind::Text,
        flags: "",
        help: "Address of an OpenTelemetry collector, to which `serve` sends traces of requests by OTLP over HTTP",
        default: none,
        example: "\"http://localhost:4318\"",
    },
];

/// Returns the table of all keys in Markdown, as the reference contains it.
#[cfg(test)]
fn markdown_table() -> String {
    let mut text =
        "| key | variable | flag | meaning | default |\n|---|---|---|---|---|\n".to_owned();
    for key in KEYS {
        let variable = if key.kind == Kind::Harvests {
            "–".to_owned()
        } else {
            format!("`{}`", key.variable())
        };
        let flags = if key.flags.is_empty() {
            "–".to_owned()
        } else {
            format!("`{}`", key.flags.replace(", ", "`, `"))
        };
        let (path, help, default) = (key.path, key.help, (key.default)());
        text += &format!("| `{path}` | {variable} | {flags} | {help} | {default} |\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::Settings;
    use super::*;
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    #[test]
    fn every_field_of_the_settings_is_a_key() {
        let of_error = |table: &str, text: &str| {
            let error = toml::from_str::<Settings>(text)
                .expect_err("an unknown key")
                .message()
                .to_owned();
            let names = error
                .split_once("expected ")
                .map(|(_, names)| names.to_owned())
                .expect("the fields");
            let names: Vec<String> = names
                .split('`')
                .skip(1)
                .step_by(2)
                .map(|name| format!("{table}{name}"))
                .collect();
            names
        };
        let mut fields: BTreeSet<String> = of_error("", "zzz = 1").into_iter().collect();
        for table in [
            "portal", "encoders", "fusion", "rerank", "server", "sparql", "service", "log",
        ] {
            assert!(fields.remove(table), "{table}");
            let prefix = format!("{table}.");
            let names = of_error(&prefix, &format!("[{table}]\nzzz = 1"));
            fields.extend(
                names
                    .into_iter()
                    .map(|name| name.replace(&format!("{prefix}{prefix}"), &prefix)),
            );
        }
        let keys: BTreeSet<String> = KEYS.iter().map(|key| key.path.to_owned()).collect();
        assert_eq!(fields, keys);
    }

    #[test]
    fn every_example_is_valid() {
        for key in KEYS {
            let text = match (key.kind, key.path.split_once('.')) {
                (Kind::Harvests, _) => {
                    format!("[[{}]]\n{}", key.path, key.example.replace("# ", ""))
                }
                (_, Some((table, name))) => format!("[{table}]\n{name} = {}", key.example),
                (_, None) => format!("{} = {}", key.path, key.example),
            };
            toml::from_str::<Settings>(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }

    #[test]
    fn every_flag_exists() {
        let program = crate::Arguments::command();
        for key in KEYS {
            for flag in key.flags.split(", ").filter(|flag| !flag.is_empty()) {
                let (command, flag) = flag.rsplit_once("--").expect("a flag");
                let commands = program.get_subcommands();
                let mut commands =
                    commands.filter(|one| command.is_empty() || one.get_name() == command.trim());
                let has = |one: &clap::Command| {
                    one.get_arguments()
                        .any(|argument| argument.get_long() == Some(flag))
                };
                assert!(commands.any(has), "{}: {command}--{flag}", key.path);
            }
        }
    }

    #[test]
    fn the_reference_lists_all_keys() {
        let page = include_str!("../../docs/src/reference/configuration.md");
        assert!(
            page.contains(&markdown_table()),
            "docs/src/reference/configuration.md must contain\n\n{}",
            markdown_table()
        );
    }
}
