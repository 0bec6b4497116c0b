use super::*;
use crate::chain::{ChainLink, MAX_NUMBER, home_id};
use crate::local::hex;
use crate::remote::object_name;
use crate::signature::tests::{OTHER, PRIVATE};
use lodeseek_engine::{HomeManifest, SavedFile};
use object_store::memory::InMemory;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

fn sha256(content: &[u8]) -> String {
    hex(Sha256::new_with_prefix(content))
}

fn remote(store: &Arc<InMemory>) -> RemoteSnapshots {
    let store: Arc<dyn ObjectStore> = Arc::clone(store) as Arc<dyn ObjectStore>;
    RemoteSnapshots::with_store(store, Key::from("a/portal"), "memory".to_owned()).expect("opened")
}

/// Uploads a content as a file, and returns its hash.
fn upload(remote: &RemoteSnapshots, content: &[u8]) -> String {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(content).expect("written");
    file.seek(SeekFrom::Start(0)).expect("at the start");
    let hash = sha256(content);
    remote
        .runtime
        .block_on(remote.storage.upload(file, content.len() as u64, &hash))
        .expect("uploaded");
    hash
}

fn manifest(files: &[(&str, &[u8])]) -> HomeManifest {
    let saved = |content: &[u8]| SavedFile {
        bytes: content.len() as u64,
        modified: 1,
        sha256: sha256(content),
    };
    HomeManifest {
        format: HomeManifest::FORMAT,
        version: "1".to_owned(),
        created: None,
        base: "http://e.org/".to_owned(),
        datasets: 1,
        files: files
            .iter()
            .map(|(name, content)| ((*name).to_owned(), saved(content)))
            .collect(),
    }
}

/// Publishes files as snapshot `number`, after the one before it.
fn commit(remote: &RemoteSnapshots, number: u64, files: &[(&str, &[u8])]) {
    commit_of(remote, number, "home", None, files);
}

fn commit_of(
    remote: &RemoteSnapshots,
    number: u64,
    home: &str,
    key: Option<&SigningKey>,
    files: &[(&str, &[u8])],
) {
    for (_, content) in files {
        upload(remote, content);
    }
    let previous = record(remote, number - 1).map(|record| record.digest);
    let link = ChainLink {
        number,
        home,
        previous: previous.as_deref(),
        key,
    };
    remote.commit(&link, &manifest(files)).expect("committed");
}

fn record(remote: &RemoteSnapshots, number: u64) -> Option<SnapshotRecord> {
    remote
        .runtime
        .block_on(remote.storage.read_record(number))
        .ok()
}

fn record_key(number: u64) -> Key {
    Key::from(format!("a/portal/snapshots/{number:010}.json"))
}

/// Copies a record to another number, with changes of its text.
fn copy_record(
    remote: &RemoteSnapshots,
    store: &InMemory,
    from: u64,
    to: u64,
    changes: &[(&str, &str)],
) {
    remote.runtime.block_on(async {
        let body = store.get(&record_key(from)).await.expect("a record");
        let bytes = body.bytes().await.expect("read");
        let mut text = String::from_utf8(bytes.to_vec()).expect("UTF-8");
        for (old, new) in changes {
            assert!(text.contains(old), "{old}: {text}");
            text = text.replace(old, new);
        }
        store
            .put(&record_key(to), PutPayload::from(text))
            .await
            .expect("written");
    });
}

fn replace(remote: &RemoteSnapshots, store: &InMemory, content: &[u8], by: &'static [u8]) {
    let key = Key::from(format!("a/portal/{}", object_name(&sha256(content))));
    remote
        .runtime
        .block_on(store.put(&key, PutPayload::from_static(by)))
        .expect("replaced");
}

#[test]
fn locations_are_urls_of_buckets_and_folders() {
    for text in ["s3://bucket", "s3://bucket/a/b", "file:///var/snapshots"] {
        assert_eq!(
            text.parse::<SnapshotLocation>().expect(text).to_string(),
            text
        );
    }
    assert_eq!(
        "s3://bucket/a/"
            .parse::<SnapshotLocation>()
            .expect("valid")
            .to_string(),
        "s3://bucket/a"
    );
    for text in [
        "",
        "folder",
        "s3:///a",
        "s3://user@bucket/a",
        "s3://bucket/a?b",
        "file:///",
        "file://host/a",
        "gs://b/a",
    ] {
        assert!(text.parse::<SnapshotLocation>().is_err(), "{text}");
    }
}

#[test]
fn options_hide_their_values() {
    let variables = [
        ("AWS_ACCESS_KEY_ID", "name"),
        ("AWS_SECRET_ACCESS_KEY", "hunter2"),
        ("AWS_ENDPOINT_URL", "http://localhost:1"),
        ("HOME", "/"),
    ];
    let options = StorageOptions::from_variables(
        variables.map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    assert!(!format!("{options:?}").contains("hunter2"));
    let location = "s3://bucket/a".parse().expect("valid");
    assert!(
        RemoteSnapshots::open(&location, &options).is_ok(),
        "plain HTTP is allowed if the endpoint has it"
    );
}

#[test]
fn the_last_snapshot_is_the_one_with_the_highest_number() {
    let remote = remote(&Arc::default());
    assert_eq!(remote.latest(0).expect("listed"), None);
    for number in [1, 2, 10] {
        commit(
            &remote,
            number,
            &[("a", &[u8::try_from(number).expect("small")])],
        );
    }
    assert_eq!(
        remote.latest(0).expect("listed").map(|(number, _)| number),
        Some(10)
    );
    assert_eq!(
        remote.latest(9).expect("listed").map(|(number, _)| number),
        Some(10)
    );
    assert_eq!(remote.latest(10).expect("listed"), None);
}

#[test]
fn a_number_is_given_once() {
    let remote = remote(&Arc::default());
    commit(&remote, 1, &[("a", b"one")]);
    commit(&remote, 1, &[("a", b"one")]); // a repeated request
    let link = ChainLink {
        number: 1,
        home: "home",
        previous: None,
        key: None,
    };
    let other = remote.commit(&link, &manifest(&[("a", b"two")]));
    assert!(
        matches!(other, Err(SnapshotError::Conflict { number: 1, .. })),
        "{other:?}"
    );
    let (_, record) = remote.latest(0).expect("listed").expect("a snapshot");
    assert_eq!(
        remote.manifest(&record.manifest).expect("read"),
        manifest(&[("a", b"one")])
    );
}

#[test]
fn large_files_are_uploaded_in_parts() {
    let store = Arc::default();
    let remote = remote(&store);
    let content: Vec<u8> = (0..20_000_000_u32)
        .map(|number| (number % 251) as u8)
        .collect();
    let hash = upload(&remote, &content);
    assert_eq!(
        remote.list_objects().expect("listed").get(&hash),
        Some(&20_000_000)
    );
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    remote
        .runtime
        .block_on(remote.storage.download(&hash, 20_000_000, &path))
        .expect("downloaded");
    assert!(fs::read(path).expect("a file") == content);
    let file = tempfile::tempfile().expect("a file");
    let changed = remote
        .runtime
        .block_on(remote.storage.upload(file, 20_000_000, &sha256(b"x")));
    assert!(
        matches!(changed, Err(SnapshotError::Engine(_))),
        "{changed:?}"
    );
    assert!(
        !remote
            .list_objects()
            .expect("listed")
            .contains_key(&sha256(b"x")),
        "nothing else gets the name of a hash"
    );
}

#[test]
fn paths_outside_of_the_home_are_refused() {
    let remote = remote(&Arc::default());
    for path in ["../x", "/x", "a/../../x", "", "lodeseek.toml", "lock"] {
        let body = serde_json::to_vec(&manifest(&[(path, b"x")])).expect("JSON");
        let parsed = remote.storage.parse_manifest("0", &body);
        assert!(
            matches!(parsed, Err(SnapshotError::Damaged { .. })),
            "{path}: {parsed:?}"
        );
    }
}

#[test]
fn a_home_is_made_of_checked_contents_and_deleted_with_its_value() {
    let store: Arc<InMemory> = Arc::default();
    let remote_of_publisher = remote(&store);
    let folder = tempfile::tempdir().expect("a folder");
    let mut cache = SnapshotCache::open(folder.path(), remote(&store)).expect("opened");
    assert!(matches!(
        cache.fetch_first(),
        Err(SnapshotError::Missing { .. })
    ));
    assert!(matches!(
        SnapshotCache::open(folder.path(), remote(&store)),
        Err(SnapshotError::CacheInUse(_))
    ));

    commit(
        &remote_of_publisher,
        1,
        &[("store/a", b"one"), ("b", b"same"), ("c", b"same")],
    );
    let first = cache.fetch_first().expect("fetched");
    assert_eq!(
        (
            first.number(),
            cache.fetch(Some(&first)).expect("listed").is_none()
        ),
        (1, true)
    );
    assert_eq!(
        fs::read(first.path().join("store/a")).expect("a file"),
        b"one"
    );
    assert_eq!(fs::read(first.path().join("c")).expect("a file"), b"same");
    let settings = fs::read_to_string(first.path().join("lodeseek.toml")).expect("a file");
    assert_eq!(settings, "base = \"http://e.org/\"\n");
    cache.keep_only(&first).expect("cleaned");

    // The damaged content is named, and nothing is opened.
    commit(
        &remote_of_publisher,
        2,
        &[("store/a", b"two"), ("b", b"same")],
    );
    replace(&remote_of_publisher, &store, b"two", b"tw0");
    let message = cache.fetch(Some(&first)).expect_err("damaged").to_string();
    assert!(
        message.contains(&object_name(&sha256(b"two"))) && message.contains("its SHA-256 is"),
        "{message}"
    );
    replace(&remote_of_publisher, &store, b"two", b"longer");
    let message = cache.fetch(Some(&first)).expect_err("damaged").to_string();
    assert!(message.contains("it has 6 bytes instead of 3"), "{message}");
    assert_eq!(
        fs::read_dir(folder.path().join("homes"))
            .expect("a folder")
            .count(),
        1,
        "only the first home is there"
    );

    replace(&remote_of_publisher, &store, b"two", b"two");
    let second = cache
        .fetch(Some(&first))
        .expect("fetched")
        .expect("a snapshot");
    cache.keep_only(&second).expect("cleaned");
    assert_eq!(
        fs::read(first.path().join("store/a")).expect("a file"),
        b"one",
        "the old home stays complete"
    );
    assert!(
        !folder.path().join(object_name(&sha256(b"one"))).exists(),
        "its contents left the cache"
    );
    // A file that another program deleted from the cache is downloaded again.
    fs::remove_file(folder.path().join(object_name(&sha256(b"same")))).expect("removed");
    commit(
        &remote_of_publisher,
        3,
        &[("store/a", b"two"), ("b", b"same"), ("c", b"new")],
    );
    assert_eq!(
        cache
            .fetch(Some(&second))
            .expect("fetched")
            .map(|home| home.number()),
        Some(3)
    );

    let path = first.path().to_owned();
    drop(first);
    assert!(!path.exists() && second.path().exists());
}

fn remove_record(remote: &RemoteSnapshots, store: &InMemory, number: u64) {
    remote
        .runtime
        .block_on(store.delete(&record_key(number)))
        .expect("deleted");
}

#[test]
fn a_location_that_was_emptied_is_followed() {
    let store: Arc<InMemory> = Arc::default();
    let publisher = remote(&store);
    commit(&publisher, 1, &[("a", b"one")]);
    commit(&publisher, 2, &[("a", b"two")]);
    let folder = tempfile::tempdir().expect("a folder");
    let mut cache = SnapshotCache::open(folder.path(), remote(&store)).expect("opened");
    let second = cache.fetch_first().expect("fetched");
    assert_eq!(second.number(), 2);
    for number in [1, 2] {
        remove_record(&publisher, &store, number);
    }
    assert!(
        cache.fetch(Some(&second)).expect("listed").is_none(),
        "the served snapshot stays"
    );

    // A lower number, then the same number with another content.
    commit(&publisher, 1, &[("a", b"new")]);
    let first = cache
        .fetch(Some(&second))
        .expect("fetched")
        .expect("a snapshot");
    assert_eq!(
        (
            first.number(),
            fs::read(first.path().join("a")).expect("a file")
        ),
        (1, b"new".to_vec())
    );
    remove_record(&publisher, &store, 1);
    commit(&publisher, 1, &[("a", b"newer")]);
    let other = cache
        .fetch(Some(&first))
        .expect("fetched")
        .expect("a snapshot");
    assert_eq!(
        (
            other.number(),
            fs::read(other.path().join("a")).expect("a file")
        ),
        (1, b"newer".to_vec())
    );
    assert!(cache.fetch(Some(&other)).expect("listed").is_none());
}

#[test]
fn a_damaged_file_of_the_cache_is_downloaded_again() {
    let store: Arc<InMemory> = Arc::default();
    commit(&remote(&store), 1, &[("a", b"one")]);
    let folder = tempfile::tempdir().expect("a folder");
    let cached = folder.path().join(object_name(&sha256(b"one")));
    {
        let mut cache = SnapshotCache::open(folder.path(), remote(&store)).expect("opened");
        let home = cache.fetch_first().expect("fetched");
        cache.keep_only(&home).expect("cleaned");
    }
    fs::write(&cached, b"0ne").expect("written");
    let mut cache = SnapshotCache::open(folder.path(), remote(&store)).expect("opened");
    let home = cache.fetch_first().expect("fetched");
    assert_eq!(fs::read(home.path().join("a")).expect("a file"), b"one");
}

#[test]
fn without_its_storage_a_cache_provides_the_snapshot_opened_last() {
    let store: Arc<InMemory> = Arc::default();
    commit(&remote(&store), 1, &[("a", b"one")]);
    let folder = tempfile::tempdir().expect("a folder");
    {
        let mut cache = SnapshotCache::open(folder.path(), remote(&store)).expect("opened");
        let home = cache.fetch_first().expect("fetched");
        cache.keep_only(&home).expect("cleaned");
    }
    commit(&remote(&store), 2, &[("a", b"two")]);
    replace(&remote(&store), &store, b"two", b"tw0");
    let mut cache = SnapshotCache::open(folder.path(), remote(&store)).expect("opened");
    assert_eq!(cache.fetch_first().expect("the old one").number(), 1);
    drop(cache);
    let empty = tempfile::tempdir().expect("a folder");
    let mut cache = SnapshotCache::open(empty.path(), remote(&store)).expect("opened");
    assert!(
        matches!(cache.fetch_first(), Err(SnapshotError::Damaged { .. })),
        "the error of the storage"
    );
}

#[test]
fn old_snapshots_and_what_only_they_use_are_deleted() {
    let store = Arc::default();
    let publisher = remote(&store);
    commit(&publisher, 1, &[("a", b"one"), ("b", b"same")]);
    commit(&publisher, 2, &[("a", b"two"), ("b", b"same")]);
    commit(&publisher, 3, &[("a", b"three"), ("b", b"same")]);
    let keep = NonZeroUsize::new(2).expect("not zero");
    let young = publisher
        .delete_old(Retention {
            keep,
            now: SystemTime::now(),
        })
        .expect("deleted");
    assert_eq!(young, (1, 0), "young objects stay");
    let later = SystemTime::now() + Duration::from_secs(25 * 3600);
    // The content of the first snapshot, and its manifest.
    assert_eq!(
        publisher
            .delete_old(Retention { keep, now: later })
            .expect("deleted"),
        (0, 2)
    );
    let folder = tempfile::tempdir().expect("a folder");
    let mut cache = SnapshotCache::open(folder.path(), remote(&store)).expect("opened");
    let home = cache.fetch_first().expect("complete");
    assert_eq!(
        (
            home.number(),
            fs::read(home.path().join("b")).expect("a file")
        ),
        (3, b"same".to_vec())
    );
    assert!(
        !publisher
            .list_objects()
            .expect("listed")
            .contains_key(&sha256(b"one"))
    );
    assert!(
        publisher
            .list_objects()
            .expect("listed")
            .contains_key(&sha256(b"two"))
    );
}

/// Returns the reason why a cache does not accept the last snapshot.
fn refusal(cache: &mut SnapshotCache, served: Option<&SnapshotHome>) -> String {
    match cache.fetch(served) {
        Err(SnapshotError::NotInChain { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_the_chain_of_a_home_is_followed() {
    let store: Arc<InMemory> = Arc::default();
    let publisher = remote(&store);
    commit(&publisher, 1, &[("a", b"one")]);
    commit(&publisher, 2, &[("a", b"second")]);
    let folder = tempfile::tempdir().expect("a folder");
    let mut cache = SnapshotCache::open(folder.path(), remote(&store)).expect("opened");
    let second = cache.fetch_first().expect("fetched");
    cache.keep_only(&second).expect("cleaned");
    let served = Some(&second);

    // An old record under a higher number, as it is and with another number in it.
    copy_record(&publisher, &store, 1, 3, &[]);
    assert!(refusal(&mut cache, served).contains("it is the record of snapshot 1"));
    copy_record(
        &publisher,
        &store,
        1,
        3,
        &[("\"number\": 1", "\"number\": 3")],
    );
    assert!(refusal(&mut cache, served).contains("does not continue"));
    copy_record(&publisher, &store, 1, MAX_NUMBER, &[]);
    assert!(refusal(&mut cache, served).contains("it is the record of snapshot 1"));
    remove_record(&publisher, &store, MAX_NUMBER);
    remove_record(&publisher, &store, 3);

    // A snapshot of another home.
    commit_of(&publisher, 3, "other", None, &[("a", b"other")]);
    assert!(refusal(&mut cache, served).contains("another home"));
    remove_record(&publisher, &store, 3);

    // A manifest of another snapshot.
    commit(&publisher, 3, &[("a", b"three")]);
    let manifests = [1, 3].map(|number| record(&publisher, number).expect("a record").manifest);
    copy_record(&publisher, &store, 3, 3, &[(&manifests[1], &manifests[0])]);
    assert!(refusal(&mut cache, served).contains("its manifest"));
    remove_record(&publisher, &store, 3);

    // The next process continues the chain.
    drop(second);
    drop(cache);
    commit_of(&publisher, 3, "other", None, &[("a", b"other")]);
    let mut cache = SnapshotCache::open(folder.path(), remote(&store)).expect("opened");
    assert!(refusal(&mut cache, None).contains("another home"));
    assert_eq!(cache.fetch_first().expect("the cached one").number(), 2);
    remove_record(&publisher, &store, 3);

    // Snapshots that the replica did not see are no gap, whether they are there or deleted.
    for number in [3, 4, 5] {
        commit(&publisher, number, &[("a", b"next")]);
    }
    let fifth = cache.fetch(None).expect("fetched").expect("a snapshot");
    assert_eq!(fifth.number(), 5);
    cache.keep_only(&fifth).expect("cleaned");
    for number in [6, 7] {
        commit(&publisher, number, &[("a", b"later")]);
    }
    for number in 1..7 {
        remove_record(&publisher, &store, number);
    }
    let seventh = cache.fetch(Some(&fifth)).expect("fetched");
    assert_eq!(seventh.expect("a snapshot").number(), 7);
}

#[test]
fn with_a_key_only_its_snapshots_are_served() {
    let store: Arc<InMemory> = Arc::default();
    let publisher = remote(&store);
    let key = SigningKey::from_pem(PRIVATE).expect("a key");
    let other = SigningKey::from_pem(OTHER).expect("a key");
    let folder = tempfile::tempdir().expect("a folder");
    let cache = SnapshotCache::open(folder.path(), remote(&store)).expect("opened");
    let mut cache = cache.with_key(Some(key.public_key()));
    commit(&publisher, 1, &[("a", b"one")]);
    assert!(refusal(&mut cache, None).contains("no signature"));
    commit_of(&publisher, 2, "home", Some(&other), &[("a", b"second")]);
    assert!(refusal(&mut cache, None).contains("not one of the configured key"));
    commit_of(&publisher, 3, "home", Some(&key), &[("a", b"three")]);
    let third = cache.fetch(None).expect("fetched").expect("a snapshot");
    assert_eq!(third.number(), 3);
    // Any change of what the signature covers.
    let manifest = record(&publisher, 3).expect("a record").manifest;
    let first = record(&publisher, 1).expect("a record").manifest;
    for (old, new) in [
        ("\"number\": 3", "\"number\": 4"),
        ("\"home\": \"home\"", "\"home\": \"hom\""),
        (manifest.as_str(), first.as_str()),
    ] {
        let to = if old.contains("number") { 4 } else { 3 };
        copy_record(&publisher, &store, 3, to, &[(old, new)]);
        assert!(
            refusal(&mut cache, None).contains("not one of the configured key"),
            "{old}"
        );
        copy_record(&publisher, &store, to, 3, &[(new, old)]);
    }
}

#[test]
fn foreign_records_are_an_error_or_deleted() {
    let store: Arc<InMemory> = Arc::default();
    let publisher = remote(&store);
    assert!(publisher.last_own("home").expect("listed").is_none());
    commit(&publisher, 1, &[("a", b"one")]);
    commit(&publisher, 2, &[("a", b"two")]);
    assert_eq!(
        publisher
            .last_own("home")
            .expect("read")
            .map(|(number, _)| number),
        Some(2)
    );
    copy_record(&publisher, &store, 2, 5, &[]);
    copy_record(
        &publisher,
        &store,
        2,
        MAX_NUMBER,
        &[("\"number\": 2", "\"number\": 9999999999")],
    );
    let error = publisher.last_own("home").expect_err("the last number");
    assert!(
        matches!(
            error,
            SnapshotError::Foreign {
                number: MAX_NUMBER,
                ..
            }
        ) && error.to_string().contains("--force"),
        "{error}"
    );
    assert!(matches!(
        publisher.last_own("other"),
        Err(SnapshotError::Foreign { .. })
    ));
    let (last, removed) = publisher.remove_foreign("home").expect("deleted");
    assert_eq!((last.map(|(number, _)| number), removed), (Some(2), 2));
    assert!(publisher.last_own("home").is_ok());
    let (last, removed) = publisher.remove_foreign("other").expect("deleted");
    assert_eq!((last, removed), (None, 2));
}

#[test]
fn a_home_keeps_its_id() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let ids = folders
        .each_ref()
        .map(|folder| home_id(folder.path()).expect("an id"));
    assert!(ids[0].len() == 32 && ids[0] != ids[1], "{ids:?}");
    assert_eq!(home_id(folders[0].path()).expect("an id"), ids[0]);
}
