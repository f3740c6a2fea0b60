//! The engine's metrics in Prometheus' text format.

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

/// Renders `values`: a name that ends in `_total` is a counter, any other a gauge.
pub(crate) fn render(values: &[(&'static str, u64)]) -> Result<String, std::fmt::Error> {
    let mut registry = Registry::with_prefix("bennu");
    for &(name, value) in values {
        let help = name.trim_end_matches("_total").replace('_', " ");
        match name.strip_suffix("_total") {
            Some(base) => registry.register(base, help, ConstCounter::new(value)),
            None => registry.register(name, help, ConstGauge::new(value.cast_signed())),
        }
    }
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    #[test]
    fn counters_and_gauges_have_their_type() {
        let text = super::render(&[("commits_total", 7), ("sessions", 2)]).unwrap();
        assert!(text.contains("# TYPE bennu_commits counter\nbennu_commits_total 7"), "{text}");
        assert!(text.contains("# TYPE bennu_sessions gauge\nbennu_sessions 2"), "{text}");
    }
}
