use super::*;
use proptest::prelude::*;
use std::fs::OpenOptions;

fn id(name: &str) -> DatasetId {
    DatasetId::new(name).expect("an id")
}

fn description(precision: Precision) -> Description {
    Description {
        model: "hashed".to_owned(),
        fingerprint: "0123".to_owned(),
        columns: 3,
        precision,
    }
}

fn rows(first: f32, rows: usize, precision: Precision) -> Rows {
    let values: Vec<f32> = (0..rows * 3).map(|place| first + place as f32).collect();
    Rows::pack(&values, 3, precision)
}

fn put(writer: &mut VectorsWriter, name: &str, first: f32, count: usize) {
    let matrices = [
        rows(first, 1, Precision::F16),
        rows(-first, count, Precision::F16),
    ];
    writer
        .put(id(name), format!("{name} {first}"), matrices.each_ref())
        .expect("put");
}

fn writer(folder: &Path) -> VectorsWriter {
    VectorsWriter::open(folder, description(Precision::F16)).expect("opened")
}

fn first(snapshot: &VectorsSnapshot, name: &str) -> Option<f32> {
    let vectors = snapshot.get(&id(name)).expect("sound")?;
    assert_eq!(vectors.data.row(0)[0], -vectors.metadata.row(0)[0]);
    Some(vectors.metadata.row(0)[0])
}

fn data_file(folder: &Path) -> PathBuf {
    let names: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    let data: Vec<&PathBuf> = names
        .iter()
        .filter(|path| {
            path.file_name()
                .is_some_and(|n| n.to_string_lossy().starts_with("blocks."))
        })
        .collect();
    assert_eq!(data.len(), 1, "{names:?}");
    data[0].clone()
}

#[test]
fn what_is_committed_is_read_and_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(matches!(
        Vectors::open(folder.path(), "0123"),
        Err(VectorsError::Missing(_))
    ));
    let mut writer = writer(folder.path());
    put(&mut writer, "a", 1.0, 2);
    assert!(
        matches!(
            Vectors::open(folder.path(), "0123"),
            Err(VectorsError::Missing(_))
        ),
        "nothing is committed"
    );
    writer.commit().expect("committed");
    let vectors = Vectors::open(folder.path(), "0123").expect("opened");
    let before = vectors.snapshot().expect("read");
    put(&mut writer, "b", 5.0, 17);
    put(&mut writer, "a", 2.0, 1);
    assert_eq!(
        vectors.snapshot().expect("read").generation(),
        before.generation()
    );
    writer.commit().expect("committed");
    let after = vectors.snapshot().expect("read");
    assert_eq!(
        (first(&before, "a"), first(&before, "b")),
        (Some(1.0), None)
    );
    assert_eq!(
        (first(&after, "a"), first(&after, "b")),
        (Some(2.0), Some(5.0))
    );
    assert_eq!(
        after
            .get(&id("b"))
            .expect("sound")
            .expect("there")
            .data
            .rows(),
        17
    );
    assert_eq!((after.digest(&id("a")), after.len()), (Some("a 2"), 2));
    assert!(matches!(
        Vectors::open(folder.path(), "4567"),
        Err(VectorsError::OtherModel(_))
    ));
}

#[test]
fn there_is_one_writer() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = writer(folder.path());
    let second = VectorsWriter::open(folder.path(), description(Precision::F16));
    assert!(matches!(second, Err(VectorsError::Busy(_))));
    drop(first);
    drop(writer(folder.path()));
}

#[test]
fn a_matrix_of_another_shape_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let wide = Rows::pack(&[1.0; 4], 4, Precision::F16);
    let none = rows(0.0, 0, Precision::F16);
    let refused = writer(folder.path()).put(id("a"), String::new(), [&wide, &none]);
    assert!(matches!(
        refused,
        Err(VectorsError::Shape {
            columns: 4,
            expected: 3,
            ..
        })
    ));
    let other = rows(1.0, 1, Precision::I8);
    assert!(
        writer(folder.path())
            .put(id("a"), String::new(), [&other, &none])
            .is_err()
    );
}

#[test]
fn another_precision_begins_anew_and_the_old_answers_until_the_commit() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut before = writer(folder.path());
    put(&mut before, "a", 1.0, 2);
    before.finish().expect("finished");
    let vectors = Vectors::open(folder.path(), "0123").expect("opened");
    let mut other = VectorsWriter::open(folder.path(), description(Precision::I8)).expect("opened");
    assert_eq!(other.digest(&id("a")), None);
    assert_eq!(first(&vectors.snapshot().expect("read"), "a"), Some(1.0));
    assert_eq!(
        first(
            &Vectors::open(folder.path(), "0123")
                .expect("opened")
                .snapshot()
                .expect("read"),
            "a"
        ),
        Some(1.0)
    );
    other
        .put(
            id("a"),
            "x".to_owned(),
            [&rows(2.0, 1, Precision::I8), &rows(2.0, 1, Precision::I8)],
        )
        .expect("put");
    other.finish().expect("finished");
    let snapshot = vectors.snapshot().expect("read");
    assert_eq!(snapshot.description().precision, Precision::I8);
    assert_eq!(snapshot.digest(&id("a")), Some("x"));
    data_file(folder.path());
    drop(VectorsWriter::open(folder.path(), description(Precision::I8)).expect("opened"));
    data_file(folder.path());
}

/// Truncated at any point, the data file loses exactly the blocks behind it. The next writer continues from there.
#[test]
fn a_data_file_cut_at_any_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut all = writer(folder.path());
    for (place, name) in ["a", "b", "c"].into_iter().enumerate() {
        put(&mut all, name, place as f32 + 1.0, place);
    }
    all.finish().expect("finished");
    let path = data_file(folder.path());
    let whole = fs::read(data_file(folder.path())).expect("read");
    let directory = fs::read(folder.path().join("directory")).expect("read");
    let ends = [6, 6 + 12, 6 + 12 + 18];
    assert_eq!(whole.len(), ends[2]);
    for length in 0..=whole.len() {
        fs::write(&path, &whole[..length]).expect("written");
        fs::write(folder.path().join("directory"), &directory).expect("written");
        let expected = ends.iter().filter(|end| **end <= length).count();
        let snapshot = Vectors::open(folder.path(), "0123")
            .expect("opened")
            .snapshot()
            .expect("read");
        for (place, name) in ["a", "b", "c"].into_iter().enumerate() {
            let read = snapshot.get(&id(name));
            assert_eq!(read.is_ok(), place < expected, "{name} of {length} bytes");
            assert!(
                place < expected
                    || matches!(read, Err(VectorsError::DamagedBlock(lost)) if lost == id(name))
            );
        }
        let mut next = writer(folder.path());
        assert_eq!(next.ids().count(), expected);
        put(&mut next, "d", 9.0, 1);
        next.finish().expect("finished");
        let snapshot = Vectors::open(folder.path(), "0123")
            .expect("opened")
            .snapshot()
            .expect("read");
        assert_eq!(
            (snapshot.len(), first(&snapshot, "d")),
            (expected + 1, Some(9.0))
        );
    }
}

/// Data that a crash leaves behind the last commit is invisible, and the next writer truncates it.
#[test]
fn a_torn_tail_is_cut_off() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut some = writer(folder.path());
    put(&mut some, "a", 1.0, 1);
    some.commit().expect("committed");
    let committed = fs::metadata(data_file(folder.path()))
        .expect("a file")
        .len();
    put(&mut some, "b", 2.0, 20);
    drop(some); // what was put last reaches the file, but no directory
    fs::write(folder.path().join("directory.new"), b"{\"format\":1,\"gen").expect("written");
    fs::write(folder.path().join("blocks.77"), b"half a compaction").expect("written");
    let vectors = Vectors::open(folder.path(), "0123").expect("opened");
    assert_eq!(vectors.snapshot().expect("read").len(), 1);
    let next = writer(folder.path());
    assert_eq!(next.digest(&id("b")), None);
    assert_eq!(
        fs::metadata(data_file(folder.path()))
            .expect("a file")
            .len(),
        committed
    );
    next.finish().expect("finished");
}

#[test]
fn a_directory_cut_or_changed_anywhere_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut some = writer(folder.path());
    put(&mut some, "a", 1.0, 1);
    some.finish().expect("finished");
    let path = folder.path().join("directory");
    let whole = fs::read(&path).expect("read");
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).expect("written");
        assert!(
            matches!(
                Vectors::open(folder.path(), "0123"),
                Err(VectorsError::Damaged(_))
            ),
            "{length}"
        );
    }
    let whole_length = whole.len();
    let text = String::from_utf8(whole).expect("text");
    fs::write(&path, text.replace("\"format\":1", "\"format\":2")).expect("written");
    assert!(matches!(
        Vectors::open(folder.path(), "0123"),
        Err(VectorsError::OtherVersion(_))
    ));
    for place in [0, whole_length / 2, whole_length - 2] {
        let mut bytes = text.clone().into_bytes();
        bytes[place] = 0xff; // no UTF-8
        fs::write(&path, bytes).expect("written");
        assert!(
            matches!(
                Vectors::open(folder.path(), "0123"),
                Err(VectorsError::Damaged(_))
            ),
            "{place}"
        );
    }
    fs::write(&path, text.replace("\"offset\":0", "\"offset\":1")).expect("written");
    assert!(matches!(
        Vectors::open(folder.path(), "0123"),
        Err(VectorsError::Damaged(_))
    ));
}

#[test]
fn a_bad_block_is_the_error_of_its_dataset_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut both = writer(folder.path());
    put(&mut both, "a", 1.0, 1);
    put(&mut both, "b", 2.0, 1);
    both.finish().expect("finished");
    let path = data_file(folder.path());
    let mut bytes = fs::read(&path).expect("read");
    bytes[3] ^= 1;
    fs::write(&path, bytes).expect("written");
    let snapshot = Vectors::open(folder.path(), "0123")
        .expect("opened")
        .snapshot()
        .expect("read");
    for _ in 0..2 {
        assert!(matches!(
            snapshot.get(&id("a")),
            Err(VectorsError::DamagedBlock(_))
        ));
        assert_eq!(first(&snapshot, "b"), Some(2.0));
    }
}

#[test]
fn garbage_is_left_out_when_it_is_the_larger_part() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut all = writer(folder.path());
    let none = rows(0.0, 0, Precision::F16);
    let large = rows(1.0, 12_000, Precision::F16);
    for (name, rows) in [("a", &large), ("b", &large), ("a", &large)] {
        all.put(id(name), String::new(), [rows, &none])
            .expect("put");
    }
    put(&mut all, "c", 3.0, 1);
    all.finish().expect("finished");
    let vectors = Vectors::open(folder.path(), "0123").expect("opened");
    let block = 12_000 * 3 * 2;
    let before = vectors.snapshot().expect("read");
    assert_eq!(
        fs::metadata(data_file(folder.path()))
            .expect("a file")
            .len(),
        3 * block + 12,
        "a third is garbage"
    );
    let mut fewer = writer(folder.path());
    fewer.remove(&id("b"));
    fewer.finish().expect("finished");
    assert_eq!(
        fs::metadata(data_file(folder.path()))
            .expect("a file")
            .len(),
        block + 12
    );
    let after = vectors.snapshot().expect("read");
    assert_eq!(
        after
            .get(&id("a"))
            .expect("sound")
            .expect("there")
            .metadata
            .row(7),
        large.row(7)
    );
    assert_eq!((first(&after, "c"), after.len()), (Some(3.0), 2));
    assert_eq!(
        before
            .get(&id("b"))
            .expect("sound")
            .expect("there")
            .metadata
            .row(7),
        large.row(7),
        "the old map lasts"
    );
}

#[test]
fn vectors_are_listed_and_forgotten() {
    let home = tempfile::tempdir().expect("a folder");
    assert!(
        list(&home.path().join("vectors"))
            .expect("listed")
            .is_empty()
    );
    let folder = model_folder(home.path(), "0123");
    let mut one = writer(&folder);
    put(&mut one, "a", 1.0, 1);
    one.finish().expect("finished");
    fs::create_dir(home.path().join("broken")).expect("made");
    let listed = list(home.path()).expect("listed");
    assert_eq!(listed.len(), 2);
    let known = listed
        .iter()
        .find(|one| one.description.is_ok())
        .expect("one");
    assert_eq!(
        (
            known.description.as_ref().expect("known").model.as_str(),
            &known.folder
        ),
        ("hashed", &folder)
    );
    for one in &listed {
        delete(one).expect("removed");
    }
    assert!(list(home.path()).expect("listed").is_empty());
}

proptest! {
    /// After any sequence of put, replace, remove, commit and reopen, the reader returns the last values.
    #[test]
    fn as_a_map(steps in proptest::collection::vec((0_u8..5, 0_u8..6, 0_usize..20), 1..40)) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut model = std::collections::BTreeMap::new();
        let mut open = writer(folder.path());
        for (number, (name, step, count)) in steps.into_iter().enumerate() {
            let name = format!("d{name}");
            let value = number as f32 + 1.0;
            match step {
                0 => { open.remove(&id(&name)); model.remove(&name); }
                1 => { open.finish().expect("finished"); open = writer(folder.path()); }
                _ => { put(&mut open, &name, value, count + 1); model.insert(name, value); }
            }
        }
        open.finish().expect("finished");
        let snapshot = Vectors::open(folder.path(), "0123").expect("opened").snapshot().expect("read");
        prop_assert_eq!(snapshot.ids().iter().map(ToString::to_string).collect::<Vec<_>>(), model.keys().cloned().collect::<Vec<_>>());
        for (name, value) in model {
            prop_assert_eq!(first(&snapshot, &name), Some(value));
        }
    }
}

#[test]
fn a_file_that_grew_meanwhile_is_read_as_committed() {
    use std::io::Write;
    let folder = tempfile::tempdir().expect("a folder");
    let mut some = writer(folder.path());
    put(&mut some, "a", 1.0, 1);
    some.finish().expect("finished");
    OpenOptions::new()
        .append(true)
        .open(data_file(folder.path()))
        .expect("opened")
        .write_all(&[7; 100])
        .expect("written");
    let snapshot = Vectors::open(folder.path(), "0123")
        .expect("opened")
        .snapshot()
        .expect("read");
    assert_eq!((first(&snapshot, "a"), snapshot.len()), (Some(1.0), 1));
}

#[test]
fn damaged_vectors_are_listed_and_removed_without_the_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = writer(folder.path());
    put(&mut writer, "a", 1.0, 2);
    put(&mut writer, "b", 5.0, 3);
    writer.finish().expect("committed");
    let snapshot = || {
        Vectors::open(folder.path(), "0123")
            .and_then(|vectors| vectors.snapshot())
            .expect("opened")
    };
    assert_eq!(snapshot().find_damaged_datasets(), []);
    let path = data_file(folder.path());
    let mut bytes = fs::read(&path).expect("read");
    *bytes.last_mut().expect("data") ^= 1;
    fs::write(&path, bytes).expect("written");
    assert_eq!(snapshot().find_damaged_datasets(), [id("b")]);
    assert_eq!(
        remove_damaged_vectors(folder.path()).expect("repaired"),
        Some(1)
    );
    let after = snapshot();
    assert_eq!(
        (
            after.find_damaged_datasets(),
            after.len(),
            first(&after, "a")
        ),
        (Vec::new(), 1, Some(1.0))
    );
    let committed = committed_files(folder.path())
        .expect("read")
        .expect("a commit");
    assert_eq!(committed.data, path);
    assert!(committed.directory.is_file());
    fs::write(folder.path().join("directory"), "damaged").expect("written");
    assert_eq!(
        remove_damaged_vectors(folder.path()).expect("repaired"),
        None
    );
    assert!(!folder.path().exists());
}
