//! Spatial and temporal coverage: bounding boxes, periods, and their forms in descriptions and literals.

mod bounding_box;
mod declared;
mod expressions;
mod geometry;
mod period;
mod places;

pub use bounding_box::{BoundingBox, InvalidBox};
pub use declared::{DeclaredPeriod, DeclaredPlace};
pub use expressions::{CoverageExpression, CoverageValue, coverage_expressions, place_name};
pub use geometry::{box_of_geojson, box_of_wkt};
pub(crate) use geometry::{box_of_gml, box_of_text};
pub use period::{Day, InvalidPeriod, Period};
