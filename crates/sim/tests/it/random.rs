//! A random number generator: all choices of a test depend on the seed alone.

pub(crate) use bennu_sim::random::Random;

/// A number from the environment, or the default of `make test`.
pub(crate) fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")),
        Err(_) => default,
    }
}

/// The seed of a run, which is printed. `BENNU_SIM_SEED` sets another one.
pub(crate) fn seed(test: &str) -> u64 {
    let seed = setting("BENNU_SIM_SEED", 1);
    println!("{test}: BENNU_SIM_SEED={seed}");
    seed
}
