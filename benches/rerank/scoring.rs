//! Scoring alone: MaxSim and inner products over random matrices, written to a folder of vectors and read back from its map,
//! at 10, 20 and 50 candidates of two texts each, on one core and on two, in each number format. Beside MaxSim stands the plain
//! loop over the same rows. Then a collection with one vector a text: disk, memory, opening, and the comparison of all
//! vectors with a query, exactly and by their signs.

use super::measure::{CANDIDATES, PRECISIONS, Random, memory, repeated};
use lodeseek_catalog::DatasetId;
use lodeseek_index::vectors::{
    DatasetVectors, Description, Precision, Rows, Vectors, VectorsSnapshot, VectorsWriter,
};
use lodeseek_rerank::{Matrix, Query, SignRows, colbert, dpr};
use std::error::Error;
use std::path::Path;
use std::thread;
use std::time::Instant;

/// Rows of a text: what models read at most.
const ROWS: usize = 512;
/// Rows of a query.
const QUERY: usize = 32;
const ROUNDS: usize = 101;

pub(super) fn run(size: usize) -> Result<(), Box<dyn Error>> {
    for columns in [128, 384] {
        for precision in PRECISIONS {
            late_interaction(columns, precision, ROUNDS)?;
        }
    }
    for precision in [Precision::F16, Precision::I8] {
        collection(size, 384, 1, precision, ROUNDS)?;
    }
    Ok(())
}

fn matrix(random: &mut Random, rows: usize, columns: usize) -> Matrix {
    let values = (0..rows * columns).map(|_| random.signed()).collect();
    dpr::unit(&Matrix::new(columns, values))
}

fn write(
    folder: &Path,
    size: usize,
    rows: usize,
    columns: usize,
    precision: Precision,
) -> Result<f64, Box<dyn Error>> {
    let description = Description {
        model: "random".to_owned(),
        fingerprint: "random".to_owned(),
        columns,
        precision,
    };
    let (mut random, mut writer) = (
        Random::new(columns as u64),
        VectorsWriter::open(folder, description)?,
    );
    let mut time = 0.0;
    for number in 0..size {
        let [metadata, data] = [(); 2].map(|()| matrix(&mut random, rows, columns));
        let started = Instant::now();
        let [metadata, data] =
            [metadata, data].map(|matrix| Rows::pack(matrix.values(), columns, precision));
        writer.put(
            DatasetId::new(number.to_string())?,
            format!("{number:032}"),
            [&metadata, &data],
        )?;
        if number % 512 == 511 {
            writer.commit()?;
        }
        time += started.elapsed().as_secs_f64();
    }
    let started = Instant::now();
    writer.finish()?;
    Ok(time + started.elapsed().as_secs_f64())
}

fn late_interaction(
    columns: usize,
    precision: Precision,
    rounds: usize,
) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    write(folder.path(), 50, ROWS, columns, precision)?;
    let vectors = Vectors::open(folder.path(), "random")?.snapshot()?;
    let query = matrix(&mut Random::new(7), QUERY, columns);
    println!("MaxSim, {QUERY} rows of {columns} with two texts of {ROWS} a dataset, {precision}");
    for count in CANDIDATES {
        for threads in [1, 2] {
            let times = repeated(rounds, || max_sims(&vectors, &query, count, threads));
            println!("  {count:>2} candidates, {threads} core(s): {times}");
        }
    }
    let widened: Vec<Matrix> = read(&vectors, 0..10)?
        .iter()
        .flat_map(|d| [widened(&d.metadata), widened(&d.data)])
        .collect();
    let times = repeated(rounds.min(5), || {
        widened
            .iter()
            .map(|document| plain(&query, document))
            .sum::<f64>()
    });
    println!("  10 candidates, 1 core, the plain loop over f32 rows: {times}");
    Ok(())
}

fn read(
    vectors: &VectorsSnapshot,
    numbers: std::ops::Range<usize>,
) -> Result<Vec<DatasetVectors>, Box<dyn Error>> {
    numbers
        .map(|number| {
            Ok(vectors
                .get(&DatasetId::new(number.to_string())?)?
                .ok_or("not there")?)
        })
        .collect()
}

/// All that a query costs beside its encoding: laying it out, reading the vectors, and MaxSim.
fn max_sims(vectors: &VectorsSnapshot, query: &Matrix, count: usize, threads: usize) -> f64 {
    let query = Query::new(query);
    let score = |numbers| -> f64 {
        let documents = read(vectors, numbers).expect("they were written");
        let texts = documents
            .iter()
            .flat_map(|document| [&document.metadata, &document.data]);
        texts
            .filter_map(|rows| colbert::max_sim(&query, rows))
            .sum()
    };
    let part = count / threads;
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .map(|own| scope.spawn(move || score(own * part..(own + 1) * part)))
            .collect();
        score(0..part)
            + others
                .into_iter()
                .map(|other| other.join().expect("finished"))
                .sum::<f64>()
    })
}

fn widened(rows: &Rows) -> Matrix {
    Matrix::new(
        rows.columns(),
        (0..rows.rows()).flat_map(|row| rows.row(row)).collect(),
    )
}

/// Computes MaxSim as its formula is written. The compiler alone vectorizes it.
fn plain(query: &Matrix, document: &Matrix) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let best = |row: &[f32]| {
        (0..document.rows())
            .map(|other| dot(row, document.row(other)))
            .fold(f32::NEG_INFINITY, f32::max)
    };
    (0..query.rows())
        .map(|row| f64::from(best(query.row(row))))
        .sum()
}

/// Disk, memory and times of a whole collection.
fn collection(
    size: usize,
    columns: usize,
    rows: usize,
    precision: Precision,
    rounds: usize,
) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let written = write(folder.path(), size, rows, columns, precision)?;
    let bytes = |name: &str| -> Result<u64, Box<dyn Error>> {
        Ok(std::fs::metadata(folder.path().join(name))?.len())
    };
    println!("{size} datasets, two texts of {rows} row(s) of {columns}, {precision}");
    println!(
        "  written in {written:.1} s: vectors {:.1} MB, directory {:.1} MB",
        bytes("blocks.0")? as f64 / 1e6,
        bytes("directory")? as f64 / 1e6
    );
    let (before, started) = (memory("VmRSS"), Instant::now());
    let vectors = Vectors::open(folder.path(), "random")?.snapshot()?;
    let opened = started.elapsed().as_secs_f64() * 1e3;
    println!(
        "  opened in {opened:.1} ms, {:.1} MB more in memory",
        memory("VmRSS").saturating_sub(before) as f64 / 1e6
    );
    let started = Instant::now();
    let mut values = Vec::new();
    for id in vectors.ids() {
        let stored = vectors.get(id)?.ok_or("not there")?;
        for matrix in [&stored.metadata, &stored.data] {
            values.extend(matrix.row(0));
        }
    }
    let all = Rows::pack(&values, columns, precision);
    drop(values);
    println!(
        "  all as one matrix: {:.1} MB, made in {:.2} s",
        all.bytes().len() as f64 / 1e6,
        started.elapsed().as_secs_f64()
    );
    let query = Query::new(&matrix(&mut Random::new(7), 1, columns));
    let times = repeated(rounds, || dpr::dot(&query, &all));
    println!("  a query with all {} vectors, 1 core: {times}", all.rows());
    let mut signs = SignRows::new(columns);
    (0..all.rows()).for_each(|row| signs.push(&all.row(row)));
    let times = repeated(rounds, || signs.estimate(&query));
    println!(
        "  the same by {:.1} MB of signs, 1 core: {times}",
        signs.bytes() as f64 / 1e6
    );
    for count in CANDIDATES {
        let times = repeated(rounds, || {
            let documents = read(&vectors, 0..count).expect("they were written");
            let texts = documents
                .iter()
                .flat_map(|document| [&document.metadata, &document.data]);
            texts.map(|rows| dpr::dot(&query, rows)[0]).sum::<f32>()
        });
        println!("  {count:>2} candidates, 1 core: {times}");
    }
    Ok(())
}
