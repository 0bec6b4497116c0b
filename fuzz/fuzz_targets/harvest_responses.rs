//! Responses of portals to a harvest: lists of CKAN, `Link` headers, links in HTML, `robots.txt`; and the state that it keeps. The
//! first byte chooses.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lodeseek_catalog::DatasetId;
use lodeseek_fuzz::{scratch, start};
use lodeseek_harvest::{forget_datasets, fuzzing};
use oxiri::Iri;
use std::collections::BTreeSet;
use std::fs;

const ADDRESS: &str = "https://portal.example.org/data/catalog?page=1";

fuzz_target!(init: start(), |data: &[u8]| {
    let Some((first, body)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(body);
    match first % 6 {
        0 => {
            let path = scratch::file("response", body);
            for (timestamp, since) in fuzzing::read_ckan(&path).expect("the file is readable") {
                assert!(since.is_none_or(|since| since < timestamp), "{timestamp}");
            }
        }
        1 => {
            if let Some(next) = fuzzing::next_page(&text, ADDRESS) {
                Iri::parse(next).expect("an IRI");
            }
        }
        2 => {
            let path = scratch::file("page", body);
            for address in fuzzing::alternates(&path, ADDRESS).expect("the file is readable") {
                Iri::parse(address).expect("an IRI");
            }
        }
        3 => drop(fuzzing::crawl_delay(body, ADDRESS)),
        4 => drop(fuzzing::is_ckan(&text)),
        _ => {
            let harvests = scratch::new_folder();
            let folder = harvests.path().join("a");
            fs::create_dir_all(folder.join("files")).expect("a folder");
            fs::write(folder.join("files/empty"), b"").expect("written");
            fs::write(folder.join("state.json"), body).expect("written");
            let ids = BTreeSet::from(["a", "b"].map(|id| DatasetId::new(id).expect("an id")));
            let _ = forget_datasets(harvests.path(), &ids);
            let _ = fuzzing::use_state(harvests.path(), "a", &[ADDRESS]);
        }
    }
});
