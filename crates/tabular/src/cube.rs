//! Cubes: tables whose rows are observations, in the RDF Data Cube vocabulary (<https://www.w3.org/TR/vocab-data-cube/>).
//!
//! A table is a cube if its format is one of cubes: JSON-stat, PX, and SDMX-CSV (<https://sdmx.org/>, versions 1 and 2), whose header begins with
//! `DATAFLOW` or `STRUCTURE` and has the column `OBS_VALUE`. The columns before the value are dimensions, those behind it attributes.

use lodeseek_rdf::vocab::qb;

/// Name of the column of values in SDMX-CSV.
const OBS_VALUE: &str = "OBS_VALUE";
/// Columns of SDMX-CSV that name the cube and what to do with a row.
const ADMINISTRATIVE: [&str; 5] = [
    "DATAFLOW",
    "STRUCTURE",
    "STRUCTURE_ID",
    "STRUCTURE_NAME",
    "ACTION",
];

/// Role of a column of a cube.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Dimension,
    Measure,
    Attribute,
}

impl Role {
    /// Returns the class of the properties with this role.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Dimension => qb::DIMENSION_PROPERTY,
            Self::Measure => qb::MEASURE_PROPERTY,
            Self::Attribute => qb::ATTRIBUTE_PROPERTY,
        }
    }
}

/// Returns the role of each column of SDMX-CSV. `None` if a table has another header.
pub(crate) fn sdmx_roles(headers: &[&str]) -> Option<Vec<Role>> {
    // The header of a column may have a name behind the identifier: `OBS_VALUE: Observation value`.
    let first = id_of(headers.first()?);
    if first != "DATAFLOW" && first != "STRUCTURE" {
        return None;
    }
    let measure = headers
        .iter()
        .position(|header| id_of(header) == OBS_VALUE)?;
    let mut roles = Vec::with_capacity(headers.len());
    for (place, header) in headers.iter().enumerate() {
        roles.push(if place == measure {
            Role::Measure
        } else if place > measure || ADMINISTRATIVE.contains(&id_of(header)) {
            Role::Attribute
        } else {
            Role::Dimension
        });
    }
    Some(roles)
}

fn id_of(header: &str) -> &str {
    header.split(':').next().unwrap_or(header).trim()
}
