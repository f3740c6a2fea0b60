#![allow(clippy::unwrap_used)]
use super::*;
use std::sync::Arc;
use std::time::Duration;

fn settings(seed: u64) -> Settings {
    Settings { seed, left_out: None }
}

/// Two threads increment a number without holding its lock between read and write. Returns the sum.
fn lossy(seed: u64) -> Ended<u64> {
    let ended = run(settings(seed), || {
        let sum = Arc::new(Mutex::new(0_u64));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let sum = sum.clone();
                spawn("adder", false, move || {
                    for _ in 0..3 {
                        let read = *sum.lock();
                        *sum.lock() = read + 1;
                    }
                })
                .unwrap()
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        *sum.lock()
    });
    ended.unwrap()
}

#[test]
fn a_seed_gives_one_run_and_others_give_others() {
    let runs: Vec<_> = (0..40).map(lossy).collect();
    assert!((0..40).all(|seed| lossy(seed) == runs[seed as usize]));
    let traces: std::collections::BTreeSet<_> = runs.iter().map(|run| run.trace).collect();
    assert_eq!(traces.len(), 40);
    assert!(runs.iter().any(|run| run.value < 6) && runs.iter().any(|run| run.value == 6), "{runs:?}");
}

#[test]
fn locks_that_are_taken_crosswise_are_found() {
    let crosswise = |seed| {
        run(settings(seed), || {
            let (one, two) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
            let (three, four) = (two.clone(), one.clone());
            let other = spawn("other", false, move || {
                let _three = three.lock();
                let _four = four.lock();
            });
            {
                let _one = one.lock();
                let _two = two.lock();
            }
            other.unwrap().join().unwrap();
        })
    };
    let outcomes: Vec<_> = (0..40).map(crosswise).collect();
    assert!(outcomes.iter().any(Result::is_ok));
    let failure = outcomes.into_iter().find_map(Result::err).unwrap();
    assert!(failure.0.starts_with("nobody can go on") && failure.0.contains("other waits for Address"), "{failure}");
}

#[test]
fn who_waits_for_a_signal_that_never_comes_is_found_beside_others_that_go_on() {
    let failure = run(settings(1), || {
        spawn("ticker", true, || {
            loop {
                sleep(Duration::from_secs(1))
            }
        })
        .unwrap();
        let (lock, signal) = (Mutex::new(()), Condvar::new());
        signal.wait(&mut lock.lock());
    });
    assert!(failure.unwrap_err().0.starts_with("first waits for ever"));
}

#[test]
fn time_passes_for_those_who_sleep_and_signals_come_before_their_time() {
    for seed in 0..20 {
        let ended = run(settings(seed), || {
            let begun = Instant::now();
            sleep(Duration::from_secs(5));
            let slept = begun.elapsed();
            let pair = Arc::new((Mutex::new(false), Condvar::new()));
            let other = pair.clone();
            let signaller = spawn("signaller", false, move || {
                *other.0.lock() = true;
                other.1.notify_one();
            });
            let mut set = pair.0.lock();
            while !*set {
                pair.1.wait_for(&mut set, Duration::from_secs(50));
            }
            drop(set);
            signaller.unwrap().join().unwrap();
            (slept, begun.elapsed())
        });
        let (slept, all) = ended.unwrap().value;
        assert!(slept >= Duration::from_secs(5) && all < Duration::from_secs(50), "{slept:?} {all:?}");
    }
}

#[test]
fn futures_are_woken_and_work_is_done_by_others() {
    let ended = run(settings(3), || {
        let work = spawn_blocking(|| 7);
        let (sender, receiver) = std::sync::mpsc::channel();
        block_on(async move { sender.send(work.await.unwrap()).unwrap() }).unwrap();
        receiver.recv().unwrap()
    });
    assert_eq!(ended.unwrap().value, 7);
}

#[test]
fn a_panic_of_any_task_ends_the_run() {
    let failure = run(settings(3), || {
        spawn("unlucky", true, || assert!(random(1) == 1, "as it had to come")).unwrap().join().unwrap();
    });
    assert!(failure.unwrap_err().0.starts_with("unlucky panicked: as it had to come"));
}
