//! Random texts of tokens never panic, every error is inside the text, and every accepted text prints and reads back.

use crate::printed::Printed;
use crate::sql;
use proptest::prelude::*;

const TOKENS: &str = "SELECT FROM WHERE INSERT INTO VALUES UPSERT UPDATE SET DELETE CREATE TABLE SCHEMA DROP ALTER ADD \
    COLUMN IF NOT EXISTS PRIMARY KEY DESC ASC NULL NULLS FIRST DEFAULT CONSTRAINT SPLIT ON SALT_BUCKETS WITH AS AND OR \
    BETWEEN IN IS LIKE CASE WHEN THEN ELSE END CAST ARRAY ROW INTERVAL UNION ALL EXCEPT JOIN LEFT USING GROUP BY HAVING \
    ORDER LIMIT OFFSET FETCH ROWS ONLY TIES FOR DUPLICATE IGNORE CONFLICT DO NOTHING RETURNING EXPLAIN ANALYZE BEGIN \
    COMMIT ROLLBACK TO COPY STDIN STDOUT CSV HEADER FORMAT SHOW RESET PREPARE EXECUTE DEALLOCATE TRUNCATE CASCADE RENAME \
    OPERATOR COLLATE EXTRACT SUBSTRING OVER PARTITION VERBOSE VACUUM ISNULL NOTNULL int text varchar timestamp numeric \
    a b t s.t \"Q\" a.v x.* * + - / || = <> < > <= >= :: ~ ? $1 $2 0 1 1.5 1e3 'x' '' E'\\n' $$d$$ $q$ ' \" /* */ -- \n ( ) \
    [ ] , ; . : @ # ^ & | ! % ä 🙂 \u{0}";

fn soup() -> impl Strategy<Value = String> {
    let tokens: Vec<&'static str> = TOKENS.split(' ').filter(|token| !token.is_empty()).collect();
    prop::collection::vec(prop::sample::select(tokens), 0..40).prop_map(|tokens| tokens.join(" "))
}

/// A valid statement with one token replaced, removed or doubled.
fn mutant() -> impl Strategy<Value = String> {
    let texts: Vec<&'static str> =
        include_str!("../../fixtures/statements.txt").lines().filter(|l| !l.starts_with([' ', '#'])).collect();
    let tokens: Vec<&'static str> = TOKENS.split(' ').filter(|token| !token.is_empty()).collect();
    (prop::sample::select(texts), any::<prop::sample::Index>(), prop::sample::select(tokens), 0..3u8).prop_map(
        |(text, index, token, how)| {
            let mut words: Vec<&str> = text.split(' ').collect();
            let at = index.index(words.len());
            match how {
                0 => words[at] = token,
                1 => words.insert(at, token),
                _ => drop(words.remove(at)),
            }
            words.join(" ")
        },
    )
}

fn check(text: &str) {
    match sql::parse(text) {
        Ok(parsed) => {
            for one in parsed {
                assert!(text.get(one.span.clone()).is_some());
                let printed = Printed(&one.statement).to_string();
                let again = sql::parse(&printed).unwrap_or_else(|error| panic!("{text}\n{printed}\n{error}"));
                assert_eq!(again.len(), 1, "{text}\n{printed}");
                assert_eq!(Printed(&again[0].statement).to_string(), printed, "{text}");
            }
        }
        Err(error) => {
            let position = error.position().expect("a position");
            assert!(text.is_char_boundary(position.byte), "{text}\n{error}");
            assert_eq!(position.character, text[..position.byte].chars().count() + 1);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn token_soup_is_an_error_or_a_statement(text in soup()) {
        check(&text);
    }

    #[test]
    fn nearly_right_statements_are_errors_or_statements(text in mutant()) {
        check(&text);
    }

    #[test]
    fn any_text_is_an_error_or_a_statement(text in ".{0,60}") {
        check(&text);
    }
}
