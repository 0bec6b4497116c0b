//! Traces of requests, sent to an OpenTelemetry collector by OTLP over HTTP.
//!
//! Spans with the target `traces` are for the collector alone; log messages within them become their events. The variables of
//! OpenTelemetry's SDK work too, for example `OTEL_SERVICE_NAME`, `OTEL_TRACES_SAMPLER` and `OTEL_EXPORTER_OTLP_HEADERS`.

use anyhow::Context;
use lodeseek_cli::logging::OtherLayer;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use std::env;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tracing::Level;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use ureq::Agent;

/// Timeout of one transfer to the collector.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of a response of the collector, in bytes.
const MAX_RESPONSE_BYTES: u64 = 1 << 20;

/// Export of traces. Dropping it sends the spans that wait, for at most five seconds.
pub(super) struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

impl Traces {
    /// Starts the export to a collector, given by its address, for example `http://localhost:4318`.
    ///
    /// # Errors
    /// If the address is not valid.
    pub(super) fn start(collector: &str) -> anyhow::Result<Self> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(CollectorClient::new(collector))
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", collector.trim_end_matches('/')))
            .build()
            .with_context(|| format!("`log.otlp`: {collector:?} is no address of a collector"))?;
        let mut resource = Resource::builder();
        if env::var_os("OTEL_SERVICE_NAME").is_none() {
            resource = resource.with_service_name("lodeseek");
        }
        let provider = SdkTracerProvider::builder()
            .with_resource(resource.build())
            .with_batch_exporter(exporter)
            .build();
        // Requests with the header `traceparent` continue the trace of the client.
        opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
        let tracer = provider.tracer("lodeseek");
        Ok(Self { provider, tracer })
    }

    /// Returns the layer that records spans and messages.
    pub(super) fn layer(&self) -> OtherLayer {
        let recorded = Targets::new()
            .with_target("traces", Level::INFO)
            .with_target("lodeseek", Level::INFO);
        tracing_opentelemetry::layer()
            .with_tracer(self.tracer.clone())
            .with_filter(recorded)
            .boxed()
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        if let Err(error) = self.provider.shutdown() {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

/// HTTP client of the exporter, which calls it on a thread of its own.
#[derive(Debug)]
struct CollectorClient {
    agent: Agent,
    collector: String,
    /// If true, the last transfer failed, and this was logged.
    is_failing: AtomicBool,
}

impl CollectorClient {
    fn new(collector: &str) -> Self {
        let agent = Agent::config_builder()
            .timeout_global(Some(EXPORT_TIMEOUT))
            .build()
            .into();
        Self {
            agent,
            collector: collector.to_owned(),
            is_failing: AtomicBool::new(false),
        }
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, ureq::Error> {
        let (parts, body) = request.into_parts();
        let response = self.agent.run(Request::from_parts(parts, body.as_ref()))?;
        let (parts, mut body) = response.into_parts();
        let body = body.with_config().limit(MAX_RESPONSE_BYTES).read_to_vec()?;
        Ok(Response::from_parts(parts, body.into()))
    }
}

impl HttpClient for CollectorClient {
    fn send_bytes<'c, 'f>(
        &'c self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'f>>
    where
        'c: 'f,
        Self: 'f,
    {
        let result = self.send(request);
        // Only changes are logged: a collector that is down would fill the log.
        let was_failing = self.is_failing.swap(result.is_err(), Ordering::Relaxed);
        match &result {
            Err(error) if !was_failing => {
                tracing::warn!(collector = self.collector, %error, "traces cannot be sent, and are dropped until they can be");
            }
            Ok(_) if was_failing => {
                tracing::info!(collector = self.collector, "traces are sent again")
            }
            _ => {}
        }
        Box::pin(std::future::ready(result.map_err(HttpError::from)))
    }
}
