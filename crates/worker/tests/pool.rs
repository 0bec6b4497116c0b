//! Workers that crash, hang, grow, or try to leave their confinement: each costs its own task an error, and nothing else.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is its own test harness"
)]

use lodeseek_worker::{
    AnswerCall, Call, Handler, Limits, Pool, PoolOptions, Task, TaskContext, WorkerError, serve,
};
use std::fs;
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// First argument of a worker.
const WORKER: &str = "worker";
const MEGABYTES: u64 = 128;
/// Time that a test takes only if the limit that it tests is missing. It is long, because a loaded machine may be slow.
const TEST_TIMEOUT: Duration = Duration::from_secs(300);
/// Maximum size of a file of a worker with a writable folder.
const MAX_FILE_BYTES: usize = 10_000;
/// Time for which the parent holds a call of `linger`, closed or not.
const LINGER: Duration = Duration::from_millis(500);
/// The same for `hold`: longer than the sending of all messages takes on a busy machine.
const HOLD: Duration = Duration::from_secs(10);

/// Runs the task that its description names, with an argument after a space.
struct Tasks;

impl Handler for Tasks {
    fn handle(&self, task: &[u8], context: &TaskContext) -> io::Result<()> {
        let text = String::from_utf8_lossy(task).into_owned();
        let (name, argument) = text.split_once(' ').unwrap_or((&text, ""));
        let outcome = match name {
            "count" => {
                let mut input = Vec::new();
                context.input().read_to_end(&mut input)?;
                input.len().to_string()
            }
            "process" => std::process::id().to_string(),
            "slow" => {
                thread::sleep(Duration::from_millis(500));
                std::process::id().to_string()
            }
            "many" => {
                for _ in 0..argument.parse::<usize>().map_err(io::Error::other)? {
                    context.send(&[b'x'; 10_000])?;
                }
                "end".to_owned()
            }
            "allocate" => {
                let bytes = argument.parse::<usize>().map_err(io::Error::other)? << 20;
                black_box(vec![1u8; bytes]).len().to_string()
            }
            "leak" => {
                let bytes = argument.parse::<usize>().map_err(io::Error::other)? << 20;
                Vec::leak(vec![1u8; bytes]).len().to_string()
            }
            "reserve" => Vec::<u8>::with_capacity(8 << 30).capacity().to_string(),
            "spin" => loop {
                black_box(());
            },
            "wait" => {
                let cancelled = std::sync::Arc::new(AtomicBool::new(false));
                let flag = std::sync::Arc::clone(&cancelled);
                context.on_cancel(move || flag.store(true, Ordering::Relaxed));
                while !cancelled.load(Ordering::Relaxed) {
                    thread::sleep(Duration::from_millis(1));
                }
                "cancelled".to_owned()
            }
            "ask" => ask(context, argument.parse().map_err(io::Error::other)?)?,
            "flood" => {
                let call = context.calls().open(b"flood")?;
                loop {
                    call.send(&[b'x'; 1000])?;
                }
            }
            "churn" => {
                for number in 0..argument.parse::<u32>().map_err(io::Error::other)? {
                    write_frames(&[(b'Q', number, b"hold"), (b'X', number, b"")])?;
                }
                "churned".to_owned()
            }
            "twice" => {
                write_frames(&[(b'Q', 7, b"linger"), (b'Q', 7, b"linger")])?;
                "opened".to_owned()
            }
            "reuse" => {
                write_frames(&[(b'Q', 9, b"linger"), (b'X', 9, b""), (b'Q', 9, b"hear")])?;
                thread::sleep(LINGER * 2);
                write_frames(&[(b'M', 9, b"message")])?;
                "reused".to_owned()
            }
            "heavy" => {
                let call = context.calls().open(b"hold")?;
                for _ in 0..argument.parse::<usize>().map_err(io::Error::other)? {
                    call.send(&vec![b'x'; 5 << 20])?;
                }
                "sent".to_owned()
            }
            "request" => {
                let bytes = argument.parse::<usize>().map_err(io::Error::other)? << 20;
                drop(context.calls().open(&vec![b'x'; bytes])?);
                "sent".to_owned()
            }
            "leave" => {
                let call = context.calls().open(b"leave")?;
                call.receive(TEST_TIMEOUT).map_err(io::Error::other)?;
                "left".to_owned()
            }
            "abort" => std::process::abort(),
            "panic" => panic!("a panic of the test"),
            "overflow" => overflow(1).to_string(),
            "connect" => described(TcpStream::connect(argument)),
            "read" => described(fs::read(argument)),
            "write" => described(fs::write(argument, "text")),
            "make" => described(make(Path::new(argument))),
            "fill" => described(fs::write(argument, vec![b'x'; 2 * MAX_FILE_BYTES])),
            "symlink" => described(std::os::unix::fs::symlink("/etc/passwd", argument)),
            "link" => {
                let (from, to) = argument.split_once(' ').unwrap_or_default();
                described(fs::hard_link(from, to))
            }
            "rename" => {
                let (from, to) = argument.split_once(' ').unwrap_or_default();
                described(fs::rename(from, to))
            }
            "start" => described(Command::new(argument).status()),
            "kill" | "pidfd" => affect(name, argument)?,
            "socket" => described(std::os::unix::net::UnixDatagram::unbound()),
            other => format!("no task {other}"),
        };
        context.send(outcome.as_bytes())
    }
}

/// Makes a folder with a file, renames and reads the file, and removes the folder.
fn make(folder: &Path) -> io::Result<()> {
    fs::create_dir(folder)?;
    fs::write(folder.join("one"), "text")?;
    fs::rename(folder.join("one"), folder.join("two"))?;
    assert_eq!(fs::read(folder.join("two"))?, b"text");
    fs::remove_dir_all(folder)
}

/// Writes frames of calls to the parent, as a hostile worker may: kind, number and content of each.
fn write_frames(frames: &[(u8, u32, &[u8])]) -> io::Result<()> {
    let mut output = io::stdout().lock();
    for (kind, number, content) in frames {
        let length = u32::try_from(content.len() + 4).map_err(io::Error::other)?;
        output.write_all(
            &[
                &[*kind],
                &length.to_le_bytes()[..],
                &number.to_le_bytes(),
                content,
            ]
            .concat(),
        )?;
    }
    output.flush()
}

/// Opens calls at the same time. In each, the parent repeats the request, then a message, and closes the call.
fn ask(context: &TaskContext, count: usize) -> io::Result<String> {
    let time = TEST_TIMEOUT;
    let calls = (0..count).map(|number| context.calls().open(format!("call {number}").as_bytes()));
    let calls: Vec<Call> = calls.collect::<io::Result<_>>()?;
    for (number, call) in calls.iter().enumerate() {
        assert_eq!(
            call.receive(time).map_err(io::Error::other)?,
            format!("call {number}").as_bytes()
        );
        call.send(format!("message {number}").as_bytes())?;
        assert_eq!(
            call.receive(time).map_err(io::Error::other)?,
            format!("message {number}").as_bytes()
        );
        assert!(call.receive(time).is_err(), "the parent closed it");
    }
    Ok(format!("{count} calls"))
}

fn described<T>(outcome: io::Result<T>) -> String {
    match outcome {
        Ok(_) => "possible".to_owned(),
        Err(error) => format!("{:?}", error.kind()),
    }
}

/// Sends a signal without effect to a process, or opens it.
fn affect(operation: &str, process: &str) -> io::Result<String> {
    use rustix::process::{Pid, PidfdFlags, pidfd_open, test_kill_process};
    let process = process
        .parse()
        .ok()
        .and_then(Pid::from_raw)
        .ok_or(io::ErrorKind::InvalidInput)?;
    Ok(match operation {
        "kill" => described(test_kill_process(process).map_err(io::Error::from)),
        _ => described(pidfd_open(process, PidfdFlags::empty()).map_err(io::Error::from)),
    })
}

fn overflow(depth: u64) -> u64 {
    let frame = black_box([depth; 64]);
    if depth == u64::MAX {
        0
    } else {
        overflow(depth + 1) + black_box(frame)[0]
    }
}

fn options(readable: &Path) -> PoolOptions {
    PoolOptions {
        program: std::env::current_exe().expect("this program"),
        arguments: vec![WORKER.into()],
        limits: Limits {
            memory_megabytes: MEGABYTES,
            open_files: 32,
            stack_megabytes: 8,
            readable: vec![readable.to_owned()],
            writable: Vec::new(),
            file_bytes: 0,
        },
        idle: 4,
        idle_time: Duration::from_secs(60),
        tasks: 100,
    }
}

fn run_for(pool: &Pool, text: &str, input: &[u8], time: Duration) -> Result<String, WorkerError> {
    let task = Task {
        task: text.as_bytes(),
        input,
        time,
        is_cancelled: &|| false,
        answer: None,
    };
    let mut last = Vec::new();
    pool.run(&task, &mut |piece| {
        last = piece;
        ControlFlow::Continue(())
    })?;
    Ok(String::from_utf8(last).expect("UTF-8"))
}

fn run(pool: &Pool, text: &str) -> Result<String, WorkerError> {
    run_for(pool, text, b"", TEST_TIMEOUT)
}

fn results_are_complete(pool: &Pool) {
    assert_eq!(
        run_for(pool, "count", &vec![b'x'; 5_000_000], TEST_TIMEOUT).as_deref(),
        Ok("5000000")
    );
    assert_eq!(run(pool, "count").as_deref(), Ok("0"));
    assert_eq!(run(pool, "many 2000").as_deref(), Ok("end"));
}

/// Answers the calls of the tasks above. `leave` is answered until the worker closes the call.
fn answers() -> (Arc<AnswerCall>, Receiver<&'static str>) {
    let (sender, events) = channel();
    let answer = move |request: &[u8], call: Call| {
        if request == b"linger" {
            return thread::sleep(LINGER);
        }
        if request == b"hold" {
            return thread::sleep(HOLD);
        }
        if request == b"hear" {
            if call.receive(TEST_TIMEOUT).is_ok() {
                let _ = sender.send("heard");
            }
            return;
        }
        if call.send(request).is_err() {
            return;
        }
        match request {
            b"flood" => thread::sleep(HOLD),
            b"leave" => {
                let is_closed = call.closed_flag();
                while !is_closed.load(Ordering::Acquire) {
                    thread::sleep(Duration::from_millis(1));
                }
                let _ = sender.send("closed");
            }
            _ => {
                if let Ok(message) = call.receive(TEST_TIMEOUT) {
                    let _ = call.send(&message);
                }
            }
        }
    };
    (Arc::new(answer), events)
}

fn calls_are_answered(pool: &Pool) {
    let (answer, events) = answers();
    let run_answered = |text: &str| {
        let time = TEST_TIMEOUT;
        let task = Task {
            task: text.as_bytes(),
            input: b"",
            time,
            is_cancelled: &|| false,
            answer: Some(&answer),
        };
        let mut last = Vec::new();
        pool.run(&task, &mut |piece| {
            last = piece;
            ControlFlow::Continue(())
        })?;
        Ok(String::from_utf8(last).expect("UTF-8"))
    };
    for _ in 0..3 {
        assert_eq!(run_answered("ask 60").as_deref(), Ok("60 calls"));
    }
    assert_eq!(run_answered("leave").as_deref(), Ok("left"));
    assert_eq!(
        events.recv_timeout(TEST_TIMEOUT),
        Ok("closed"),
        "a call ends with its task"
    );
    assert_eq!(run_answered("reuse").as_deref(), Ok("reused"));
    assert_eq!(
        events.recv_timeout(TEST_TIMEOUT),
        Ok("heard"),
        "the end of one call ends no other"
    );
    for task in ["churn 100", "heavy 6", "request 31"] {
        let outcome = run_answered(task);
        assert!(outcome.is_ok(), "{task}: {outcome:?}");
    }
    for (task, reason) in [
        ("ask 1000", "more than 128 calls"),
        ("churn 1000", "more than 128 calls"),
        ("twice", "call 7, which is open"),
        ("flood", "more than 16 messages"),
        ("heavy 7", "more than 33554432 bytes"),
        ("request 33", "more than 33554432 bytes"),
    ] {
        let outcome = run_answered(task);
        assert!(
            matches!(&outcome, Err(WorkerError::Ended(found)) if found.contains(reason)),
            "{task}: {outcome:?}"
        );
    }
    let outcome = run(pool, "ask 1");
    assert!(
        matches!(&outcome, Err(WorkerError::Ended(reason)) if reason.contains("Open")),
        "nobody answers: {outcome:?}"
    );
    assert_eq!(run(pool, "count").as_deref(), Ok("0"));
}

fn a_worker_is_used_again(pool: &Pool) {
    assert_eq!(run(pool, "process"), run(pool, "process"));
}

/// The pool may not know yet that its idle worker has ended.
fn an_idle_worker_that_ended_costs_nothing(pool: &Pool) {
    for _ in 0..20 {
        let process = run(pool, "process").expect("an id");
        assert!(
            Command::new("kill")
                .args(["-9", &process])
                .status()
                .is_ok_and(|status| status.success())
        );
        let next = run(pool, "process").expect("answered by another worker");
        assert_ne!(next, process);
    }
}

fn memory_is_limited(pool: &Pool) {
    for task in ["allocate 400", "reserve"] {
        assert_eq!(
            run(pool, task),
            Err(WorkerError::Memory(MEGABYTES)),
            "{task}"
        );
    }
    assert_eq!(run(pool, "allocate 1").as_deref(), Ok("1048576"));
}

fn a_worker_that_keeps_memory_is_replaced(pool: &Pool) {
    let before = run(pool, "process").expect("an id");
    assert!(run(pool, "leak 100").is_ok(), "below the limit");
    let after = run(pool, "process").expect("an id");
    assert_ne!(before, after);
    assert!(run(pool, "leak 1").is_ok());
    assert_eq!(run(pool, "process"), Ok(after), "little is no reason");
}

/// More workers are kept for tasks that follow soon.
fn workers_without_tasks_end(folder: &Path) {
    let idle_time = Duration::from_secs(1);
    let pool = Pool::start(PoolOptions {
        idle: 1,
        idle_time,
        ..options(folder)
    })
    .expect("a pool");
    let task = |text: &'static str| run_for(&pool, text, b"", TEST_TIMEOUT);
    let at_once = |text| {
        let mut ids: Vec<String> = thread::scope(|scope| {
            let runs: Vec<_> = (0..3).map(|_| scope.spawn(|| task(text))).collect();
            let ids = runs.into_iter().map(|run| run.join().expect("no panic"));
            ids.map(|id| id.expect("an id")).collect()
        });
        ids.sort();
        ids
    };
    let first = at_once("slow");
    assert_eq!(at_once("slow"), first, "all are used again");
    let running = || {
        first
            .iter()
            .filter(|id| Path::new("/proc").join(id).exists())
            .count()
    };
    let begun = Instant::now();
    while running() > 1 && begun.elapsed() < TEST_TIMEOUT {
        thread::sleep(Duration::from_millis(50));
    }
    thread::sleep(2 * idle_time);
    assert_eq!(running(), 1);
    assert!(task("process").is_ok_and(|id| first.contains(&id)));
}

fn time_is_limited(pool: &Pool) {
    let time = Duration::from_millis(300);
    assert_eq!(
        run_for(pool, "spin", b"", time),
        Err(WorkerError::Time(time))
    );
    assert_eq!(
        run_for(pool, "wait", b"", time),
        Err(WorkerError::Time(time))
    );
}

fn a_task_is_cancelled(pool: &Pool) {
    for text in ["spin", "wait", "many 100000000"] {
        let since = Instant::now();
        let is_cancelled = || since.elapsed() > Duration::from_millis(100);
        let task = Task {
            task: text.as_bytes(),
            input: b"",
            time: TEST_TIMEOUT,
            is_cancelled: &is_cancelled,
            answer: None,
        };
        assert_eq!(
            pool.run(&task, &mut |_| ControlFlow::Continue(())),
            Err(WorkerError::Cancelled),
            "{text}"
        );
    }
    let task = Task {
        task: b"many 100000000",
        input: b"",
        time: TEST_TIMEOUT,
        is_cancelled: &|| false,
        answer: None,
    };
    assert_eq!(
        pool.run(&task, &mut |_| ControlFlow::Break(())),
        Err(WorkerError::Cancelled),
        "nobody listens"
    );
}

fn a_crash_costs_its_own_task_only(pool: &Pool) {
    thread::scope(|scope| {
        for task in ["abort", "panic", "overflow", "abort"] {
            scope.spawn(move || {
                let outcome = run(pool, task);
                assert!(
                    matches!(outcome, Err(WorkerError::Ended(_))),
                    "{task}: {outcome:?}"
                );
            });
        }
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(
                        run_for(pool, "count", b"abc", TEST_TIMEOUT).as_deref(),
                        Ok("3")
                    );
                }
            });
        }
    });
}

fn input_that_nobody_reads_blocks_nothing(pool: &Pool) {
    let time = Duration::from_millis(300);
    assert_eq!(
        run_for(pool, "spin", &vec![b'x'; 8_000_000], time),
        Err(WorkerError::Time(time))
    );
}

fn a_worker_is_confined(pool: &Pool, folder: &Path) {
    let inside = folder.join("inside");
    fs::write(&inside, "text").expect("written");
    assert_eq!(
        run(pool, &format!("read {}", inside.display())).as_deref(),
        Ok("possible")
    );
    let written = run(pool, &format!("write {}", folder.join("new").display()));
    assert!(!matches!(written.as_deref(), Ok("possible")), "{written:?}");
    let missing = pool.missing_protections();
    if missing.iter().any(|reason| reason.contains("Landlock")) {
        eprintln!("skipped: reading outside of the folder: {missing:?}");
    } else {
        assert_eq!(
            run(pool, "read /etc/passwd").as_deref(),
            Ok("PermissionDenied")
        );
    }
    if missing.iter().any(|reason| reason.contains("seccomp")) {
        eprintln!("skipped: network and programs: {missing:?}");
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    assert_eq!(
        run(pool, &format!("connect {address}")).as_deref(),
        Ok("PermissionDenied")
    );
    assert_eq!(
        run(pool, "start /bin/true").as_deref(),
        Ok("PermissionDenied")
    );
    assert_eq!(
        run(pool, "socket").as_deref(),
        Ok("PermissionDenied"),
        "Landlock allows it, seccomp does not"
    );
    for operation in ["kill", "pidfd"] {
        let outcome = run(pool, &format!("{operation} {}", std::process::id()));
        assert_eq!(outcome.as_deref(), Ok("PermissionDenied"), "{operation}");
    }
}

/// A worker with a writable folder writes in it, and nowhere else.
fn a_writable_folder_is_confined(folder: &Path) {
    let options = options(folder);
    let writable = folder.join("writable");
    fs::create_dir(&writable).expect("a folder");
    let limits = Limits {
        writable: vec![writable.clone()],
        file_bytes: MAX_FILE_BYTES as u64,
        ..options.limits
    };
    let pool = Pool::start(PoolOptions { limits, ..options }).expect("a pool");
    let inside = |name: &str| writable.join(name).display().to_string();
    assert_eq!(
        run(&pool, &format!("make {}", inside("made"))).as_deref(),
        Ok("possible")
    );
    assert_eq!(
        run(&pool, &format!("write {}", inside("file"))).as_deref(),
        Ok("possible")
    );
    let filled = run(&pool, &format!("fill {}", inside("large")));
    assert!(!matches!(filled.as_deref(), Ok("possible")), "{filled:?}");
    if pool
        .missing_protections()
        .iter()
        .any(|reason| reason.contains("Landlock"))
    {
        eprintln!(
            "skipped: writing outside of the folder: {:?}",
            pool.missing_protections()
        );
        return;
    }
    let outside = folder.join("inside").display().to_string();
    for task in [
        format!("write {outside}"),
        format!("write {}", folder.join("new").display()),
        format!("symlink {}", inside("symlink")),
        format!("link {outside} {}", inside("link")),
        format!("rename {} {}", inside("file"), folder.join("new").display()),
    ] {
        let outcome = run(&pool, &task);
        let is_refused = matches!(
            outcome.as_deref(),
            Ok("PermissionDenied" | "CrossesDevices")
        );
        assert!(is_refused, "{task}: {outcome:?}");
    }
    assert_eq!(
        fs::read_to_string(folder.join("inside")).expect("a file"),
        "text"
    );
}

/// Other processes of the machine, such as this one, come first.
fn a_worker_has_a_low_priority(pool: &Pool) {
    let niceness =
        |process| rustix::process::getpriority_process(process).expect("a process that runs");
    let id = run(pool, "process")
        .expect("an id")
        .parse()
        .expect("a number");
    let worker = niceness(rustix::process::Pid::from_raw(id));
    assert_eq!(worker, (niceness(None) + 10).min(19));
}

fn a_program_that_is_no_worker_is_reported(folder: &Path) {
    for program in ["/bin/true", "/no/such/program"] {
        let options = PoolOptions {
            program: program.into(),
            ..options(folder)
        };
        let error = Pool::start(options).expect_err("no worker");
        assert!(
            matches!(&error, WorkerError::Start(reason) if reason.starts_with(program)),
            "{error}"
        );
    }
    // One that closes its output and runs on is killed.
    let arguments = ["-c", "exec >&-; exec sleep 600"].map(Into::into).to_vec();
    let error = Pool::start(PoolOptions {
        program: "/bin/sh".into(),
        arguments,
        ..options(folder)
    });
    assert!(
        error.is_err_and(|error| error.to_string().contains("signal: 9")),
        "it runs no longer"
    );
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, first, limits] = arguments.as_slice()
        && first == WORKER
    {
        return serve(&serde_json::from_str(limits)?, Tasks);
    }
    let folder = tempfile::tempdir()?;
    let pool = Pool::start(options(folder.path())).map_err(io::Error::other)?;
    type Check = (&'static str, fn(&Pool));
    let checks: [Check; 11] = [
        ("results_are_complete", results_are_complete),
        ("calls_are_answered", calls_are_answered),
        ("a_worker_is_used_again", a_worker_is_used_again),
        (
            "an_idle_worker_that_ended_costs_nothing",
            an_idle_worker_that_ended_costs_nothing,
        ),
        ("memory_is_limited", memory_is_limited),
        (
            "a_worker_that_keeps_memory_is_replaced",
            a_worker_that_keeps_memory_is_replaced,
        ),
        ("time_is_limited", time_is_limited),
        ("a_task_is_cancelled", a_task_is_cancelled),
        (
            "a_crash_costs_its_own_task_only",
            a_crash_costs_its_own_task_only,
        ),
        (
            "input_that_nobody_reads_blocks_nothing",
            input_that_nobody_reads_blocks_nothing,
        ),
        ("a_worker_has_a_low_priority", a_worker_has_a_low_priority),
    ];
    for (name, check) in checks {
        check(&pool);
        println!("test {name} ... ok");
    }
    workers_without_tasks_end(folder.path());
    println!("test workers_without_tasks_end ... ok");
    a_worker_is_confined(&pool, folder.path());
    println!("test a_worker_is_confined ... ok");
    a_writable_folder_is_confined(folder.path());
    println!("test a_writable_folder_is_confined ... ok");
    a_program_that_is_no_worker_is_reported(folder.path());
    println!("test a_program_that_is_no_worker_is_reported ... ok");
    Ok(())
}
