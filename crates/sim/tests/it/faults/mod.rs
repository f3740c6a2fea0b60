//! Each write, sync, name change and opening of a scenario fails, one per run.
//!
//! `BENNU_SIM_FAULT_STRIDE=1` tests every call; `make test` tests a sample that depends on the seed.

mod child;

use crate::folder;
use crate::random::{Random, seed, setting};
use bennu_sim::power_loss::{Call, Fault, Shim};
use rustix::io::Errno;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

const CHILD: &str = "BENNU_SIM_FAULTS_CHILD";
const ROOM: &str = "BENNU_SIM_FAULTS_ROOM";
/// A process that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(180);

/// Not a test by itself: run in the process with the fault.
#[test]
fn child_in_which_a_call_fails() {
    if let Some(folder) = std::env::var_os(CHILD) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let room = child::Room(std::env::var_os(ROOM).map(Into::into));
        runtime.block_on(child::play(Path::new(&folder), &room));
    }
}

/// Runs the script with a fault. Returns the number of calls of each kind.
fn run(shim: &Shim, fault: Option<&Fault>) -> Result<Vec<u64>, String> {
    let parent = folder::in_memory();
    let (root, counts) = (parent.path().join("root"), parent.path().join("counts"));
    std::fs::create_dir(&root).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "faults::child_in_which_a_call_fails", "--nocapture"]);
    command.env(CHILD, root.join("data")).env("RUST_BACKTRACE", "0");
    let fault =
        fault.map(|fault| Fault { until: fault.until.as_ref().map(|name| parent.path().join(name)), ..fault.clone() });
    command.envs(fault.as_ref().and_then(|fault| fault.until.as_ref()).map(|room| (ROOM, room)));
    shim.inject(&mut command, &root, fault.as_ref(), &counts);
    let output = output(command, parent.path())?;
    if !output.status.success() {
        let (told, failed) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        return Err(format!("{fault:?}: {}\n{told}\n{failed}", output.status));
    }
    let counts = std::fs::read_to_string(counts).unwrap();
    Ok(counts.lines().map(|line| line.split_once(' ').unwrap().1.parse().unwrap()).collect())
}

/// As [`Command::output`], but kills a process that hangs.
fn output(mut command: Command, folder: &Path) -> Result<Output, String> {
    let file = |name: &str| std::fs::File::create(folder.join(name)).unwrap();
    let mut child = command.stdout(Stdio::from(file("stdout"))).stderr(Stdio::from(file("stderr"))).spawn().unwrap();
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
            return Ok(Output { status, stdout: read("stdout"), stderr: read("stderr") });
        }
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            return Err(format!("hangs: {}", std::fs::read_to_string(folder.join("stdout")).unwrap()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn any_failing_call_leaves_all_or_nothing_of_a_step() {
    for errno in [Errno::IO, Errno::NOSPC] {
        strike(&Call::ALL, &|call, number| Fault { call, number, errno: errno.raw_os_error(), until: None });
    }
}

#[test]
fn nothing_is_lost_on_a_disk_that_is_full_for_a_while() {
    let full = |call, number| Fault { call, number, errno: Errno::NOSPC.raw_os_error(), until: Some("room".into()) };
    strike(&[Call::Write], &full);
}

/// Runs the script with each fault of this run's sample.
fn strike(kinds: &[Call], fault: &dyn Fn(Call, u64) -> Fault) {
    let (seed, stride) = (seed("faults"), setting("BENNU_SIM_FAULT_STRIDE", 60));
    let folder = folder::in_memory();
    let shim = Shim::compile(folder.path()).expect("a C compiler is needed");
    let counts = run(&shim, None).unwrap();
    println!("calls: {counts:?} of {:?}", Call::ALL);
    let mut random = Random::new(seed);
    let mut faults = Vec::new();
    for (call, count) in Call::ALL.into_iter().zip(&counts).filter(|(call, _)| kinds.contains(call)) {
        let numbers = (1 + random.below(stride)..=*count).step_by(stride as usize);
        faults.extend(numbers.map(|number| fault(call, number)));
    }
    println!("{} faults", faults.len());
    let (faults, wrong) = (Mutex::new(faults), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(fault) = faults.lock().unwrap().pop() else { break };
                    let outcome = run(&shim, Some(&fault));
                    wrong.lock().unwrap().extend(outcome.err());
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} went wrong; the first:\n{}", wrong.len(), wrong[..wrong.len().min(3)].join("\n\n"));
}
