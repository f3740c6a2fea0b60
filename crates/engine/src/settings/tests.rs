//! Tests of the settings.

use super::*;

fn settings() -> Settings {
    Settings::new(&[], &[]).unwrap()
}

fn set(settings: &mut Settings, name: &str, value: &str) -> EngineResult<()> {
    settings.set(name, &[value.to_string()], false)
}

#[test]
fn values_are_shown_in_their_canonical_form() {
    let mut settings = settings();
    let cases = [
        ("statement_timeout", "5000", "5s"),
        ("statement_timeout", "90 min", "90min"),
        ("work_mem", "2048", "2MB"),
        ("synchronous_commit", "LOCAL", "on"),
        ("timezone", "utc", "UTC"),
        ("timezone", "Europe/Berlin", "Europe/Berlin"),
        ("datestyle", "iso, ymd", "ISO, YMD"),
        ("client_encoding", "utf-8", "UTF8"),
        ("extra_float_digits", "3", "3"),
        ("my.own", "x", "x"),
    ];
    for (name, given, shown) in cases {
        set(&mut settings, name, given).unwrap();
        assert_eq!(settings.get(name).unwrap(), shown, "{name} = {given}");
    }
}

#[test]
fn what_is_not_there_or_not_taken_has_its_code() {
    let mut settings = settings();
    let cases = [
        ("no_such", "1", "42704"),
        ("bennu.no_such", "1", "42704"),
        ("statement_timeout", "soon", "22023"),
        ("extra_float_digits", "9", "22023"),
        ("client_encoding", "LATIN1", "0A000"),
        ("datestyle", "German", "0A000"),
        ("timezone", "Mars/Olympus", "22023"),
        ("server_version", "16", "55P02"),
        ("default_transaction_isolation", "serializable", "0A000"),
        ("default_transaction_isolation", "sometimes", "22023"),
    ];
    for (name, value, code) in cases {
        assert_eq!(set(&mut settings, name, value).unwrap_err().code(), code, "{name} = {value}");
    }
}

#[test]
fn rollback_takes_set_back_and_commit_takes_only_set_local_back() {
    let mut settings = settings();
    settings.begin_block();
    set(&mut settings, "application_name", "a").unwrap();
    settings.end_block(false).unwrap();
    assert_eq!(settings.get("application_name").unwrap(), "");
    settings.begin_block();
    set(&mut settings, "application_name", "a").unwrap();
    settings.set("application_name", &["b".to_string()], true).unwrap();
    assert_eq!(settings.get("application_name").unwrap(), "b");
    settings.end_block(true).unwrap();
    assert_eq!(settings.get("application_name").unwrap(), "a");
}

#[test]
fn the_search_path_keeps_quoted_names() {
    let mut settings = settings();
    let path = ["My Schema".to_string(), "public".to_string(), "a\"b".to_string()];
    settings.set("search_path", &path, false).unwrap();
    assert_eq!(settings.effective().search_path.as_slice(), path);
    assert_eq!(settings.get("search_path").unwrap(), "\"My Schema\", public, \"a\"\"b\"");
}

#[test]
fn only_reported_settings_are_reported() {
    let mut settings = settings();
    set(&mut settings, "work_mem", "1MB").unwrap();
    set(&mut settings, "TIMEZONE", "+02:00").unwrap();
    assert_eq!(settings.take_changed(), [("TimeZone", "+02:00".to_string())]);
    assert!(settings.take_changed().is_empty());
}
