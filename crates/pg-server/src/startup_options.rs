//! The `options` of a startup packet: settings written as arguments of a server's command line.
//!
//! `-c name=value`, `-cname=value` and `--name=value`, separated by white space; a backslash escapes the next
//! character. Source: PostgreSQL 15, "Frontend/Backend Protocol", StartupMessage.

/// An argument that is not a setting.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InvalidOption(pub(crate) String);

/// Parses `options` into names and values, in order.
///
/// # Errors
/// [`InvalidOption`] for an argument in none of the three forms.
pub(crate) fn settings(options: &str) -> Result<Vec<(String, String)>, InvalidOption> {
    let mut arguments = arguments(options).into_iter();
    let mut settings = Vec::new();
    while let Some(argument) = arguments.next() {
        let setting = match argument.as_str() {
            "-c" => arguments.next().ok_or_else(|| InvalidOption(argument.clone()))?,
            _ => match argument.strip_prefix("--").or_else(|| argument.strip_prefix("-c")) {
                Some(setting) => setting.to_owned(),
                None => return Err(InvalidOption(argument)),
            },
        };
        let (name, value) = setting.split_once('=').ok_or_else(|| InvalidOption(argument.clone()))?;
        settings.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(settings)
}

fn arguments(options: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut current: Option<String> = None;
    let mut letters = options.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => current.get_or_insert_default().extend(letters.next()),
            c if c.is_ascii_whitespace() => all.extend(current.take()),
            c => current.get_or_insert_default().push(c),
        }
    }
    all.extend(current);
    all
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_in_every_spelling() {
        let read = settings(r"-c a=1 -cb=x\ y  --search-path=s,\\t -c c=").unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(read, [pair("a", "1"), pair("b", "x y"), pair("search_path", r"s,\t"), pair("c", "")]);
        assert_eq!(settings("  ").unwrap(), []);
    }

    #[test]
    fn what_is_no_setting_is_named() {
        for (text, bad) in [("-d 3", "-d"), ("-c", "-c"), ("-c a", "-c"), ("--x", "--x"), ("a=1", "a=1")] {
            assert_eq!(settings(text), Err(InvalidOption(bad.to_owned())), "{text}");
        }
    }
}
