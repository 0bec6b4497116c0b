//! Scoring by stored vectors: `make bench-rerank`.
//!
//! `rerank [--size=N] [--rounds=N]`: MaxSim and inner products over random matrices, written to a folder of vectors and
//! read back from its map, at 10, 20 and 50 candidates of two texts each, on one core and on two, as f16 and as int8.
//! Beside MaxSim stands the plain loop over the same rows. Then a collection of N datasets with one vector a text: disk,
//! memory, opening, and the comparison of all vectors with a query.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use lodeseek::catalog::DatasetId;
use lodeseek::index::vectors::{DatasetVectors, Description, Precision, Rows, Vectors, VectorsSnapshot, VectorsWriter};
use lodeseek::rerank::{Matrix, Query, colbert, dpr};
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::thread;
use std::time::Instant;

/// Rows of a text: what models read at most.
const ROWS: usize = 512;
/// Rows of a query.
const QUERY: usize = 32;
const CANDIDATES: [usize; 3] = [10, 20, 50];
const PRECISIONS: [Precision; 2] = [Precision::F16, Precision::I8];

fn main() -> Result<(), Box<dyn Error>> {
    let number = |name: &str, default| {
        let given = std::env::args().find_map(|argument| argument.strip_prefix(name).map(str::to_owned));
        given.map_or(Ok(default), |given| given.parse::<usize>())
    };
    let (size, rounds) = (number("--size=", 31_589)?, number("--rounds=", 101)?);
    for columns in [128, 384] {
        for precision in PRECISIONS {
            late_interaction(columns, precision, rounds)?;
        }
    }
    for precision in PRECISIONS {
        collection(size, 384, 1, precision, rounds)?;
    }
    Ok(())
}

/// A generator of its own, from a seed: rows of length 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    fn matrix(&mut self, rows: usize, columns: usize) -> Matrix {
        let values = (0..rows * columns).map(|_| self.next()).collect();
        dpr::unit(&Matrix::new(columns, values))
    }
}

fn write(folder: &Path, size: usize, rows: usize, columns: usize, precision: Precision) -> Result<f64, Box<dyn Error>> {
    let description = Description { model: "random".to_owned(), fingerprint: "random".to_owned(), columns, precision };
    let (mut random, mut writer) = (Random(columns as u64), VectorsWriter::open(folder, description)?);
    let mut time = 0.0;
    for number in 0..size {
        let [metadata, data] = [(); 2].map(|()| random.matrix(rows, columns));
        let started = Instant::now();
        let [metadata, data] = [metadata, data].map(|matrix| Rows::pack(matrix.values(), columns, precision));
        writer.put(DatasetId::new(number.to_string())?, format!("{number:032}"), [&metadata, &data])?;
        if number % 512 == 511 {
            writer.commit()?;
        }
        time += started.elapsed().as_secs_f64();
    }
    let started = Instant::now();
    writer.finish()?;
    Ok(time + started.elapsed().as_secs_f64())
}

fn late_interaction(columns: usize, precision: Precision, rounds: usize) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    write(folder.path(), 50, ROWS, columns, precision)?;
    let vectors = Vectors::open(folder.path(), "random")?.snapshot()?;
    let query = Random(7).matrix(QUERY, columns);
    println!("MaxSim, {QUERY} rows of {columns} with two texts of {ROWS} a dataset, {precision}");
    for count in CANDIDATES {
        for threads in [1, 2] {
            let times = measure(rounds, || max_sims(&vectors, &query, count, threads));
            println!("  {count:>2} candidates, {threads} core(s): {times}");
        }
    }
    let widened: Vec<Matrix> =
        read(&vectors, 0..10)?.iter().flat_map(|d| [widened(&d.metadata), widened(&d.data)]).collect();
    let times = measure(rounds.min(5), || widened.iter().map(|document| plain(&query, document)).sum::<f64>());
    println!("  10 candidates, 1 core, the plain loop over f32 rows: {times}");
    Ok(())
}

fn read(vectors: &VectorsSnapshot, numbers: std::ops::Range<usize>) -> Result<Vec<DatasetVectors>, Box<dyn Error>> {
    numbers.map(|number| Ok(vectors.get(&DatasetId::new(number.to_string())?)?.ok_or("not there")?)).collect()
}

/// All that a query costs beside its encoding: laying it out, reading the vectors, and MaxSim.
fn max_sims(vectors: &VectorsSnapshot, query: &Matrix, count: usize, threads: usize) -> f64 {
    let query = Query::new(query);
    let score = |numbers| -> f64 {
        let documents = read(vectors, numbers).expect("they were written");
        let texts = documents.iter().flat_map(|document| [&document.metadata, &document.data]);
        texts.filter_map(|rows| colbert::max_sim(&query, rows)).sum()
    };
    let part = count / threads;
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|own| scope.spawn(move || score(own * part..(own + 1) * part))).collect();
        score(0..part) + others.into_iter().map(|other| other.join().expect("finished")).sum::<f64>()
    })
}

fn widened(rows: &Rows) -> Matrix {
    Matrix::new(rows.columns(), (0..rows.rows()).flat_map(|row| rows.row(row)).collect())
}

/// MaxSim as its formula says, by the compiler's own means.
fn plain(query: &Matrix, document: &Matrix) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let best =
        |row: &[f32]| (0..document.rows()).map(|other| dot(row, document.row(other))).fold(f32::NEG_INFINITY, f32::max);
    (0..query.rows()).map(|row| f64::from(best(query.row(row)))).sum()
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
    let bytes = |name: &str| -> Result<u64, Box<dyn Error>> { Ok(std::fs::metadata(folder.path().join(name))?.len()) };
    println!("{size} datasets, two texts of {rows} row(s) of {columns}, {precision}");
    println!(
        "  written in {written:.1} s: vectors {:.1} MB, directory {:.1} MB",
        bytes("blocks.0")? as f64 / 1e6,
        bytes("directory")? as f64 / 1e6
    );
    let (before, started) = (resident(), Instant::now());
    let vectors = Vectors::open(folder.path(), "random")?.snapshot()?;
    let opened = started.elapsed().as_secs_f64() * 1e3;
    println!("  opened in {opened:.1} ms, {:.1} MB more in memory", resident().saturating_sub(before) as f64 / 1e6);
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
    let query = Query::new(&Random(7).matrix(1, columns));
    let times = measure(rounds, || dpr::dot(&query, &all));
    println!("  a query with all {} vectors, 1 core: {times}", all.rows());
    for count in CANDIDATES {
        let times = measure(rounds, || {
            let documents = read(&vectors, 0..count).expect("they were written");
            let texts = documents.iter().flat_map(|document| [&document.metadata, &document.data]);
            texts.map(|rows| dpr::dot(&query, rows)[0]).sum::<f32>()
        });
        println!("  {count:>2} candidates, 1 core: {times}");
    }
    Ok(())
}

/// `p50 … ms, p95 … ms`, of some rounds after one that is not counted.
fn measure<T>(rounds: usize, mut work: impl FnMut() -> T) -> String {
    black_box(work());
    let mut times: Vec<f64> = (0..rounds)
        .map(|_| {
            let started = Instant::now();
            black_box(work());
            started.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    format!("p50 {:.3} ms, p95 {:.3} ms", at(0.5), at(0.95))
}

/// The resident memory of this process in bytes; 0 where the system does not tell.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok()).unwrap_or(0) * 1024
}
