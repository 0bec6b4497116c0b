//! Body of a response with a function that receives each frame. What the function holds is dropped at the end of the body, or of the
//! connection.

use axum::body::{Body, Bytes};
use http_body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A body whose frames a function receives. Unlike `http_body_util`'s `MapFrame`, it keeps the size hint, and so `Content-Length`.
pub(crate) struct ObservedBody<F> {
    body: Body,
    observe: F,
}

impl<F: FnMut(&Frame<Bytes>) + Send + Unpin + 'static> ObservedBody<F> {
    /// Wraps a body.
    pub(crate) fn wrap(body: Body, observe: F) -> Body {
        Body::new(Self { body, observe })
    }
}

impl<F: FnMut(&Frame<Bytes>) + Unpin> http_body::Body for ObservedBody<F> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            (self.observe)(frame);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
