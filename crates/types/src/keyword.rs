//! PostgreSQL 15's keywords, by the names that they cannot be without quotes.

use std::sync::LazyLock;

/// The category of a keyword, as in `pg_get_keywords()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// Cannot be the name of a function or a type.
    ColumnName,
    /// Cannot be a name.
    Reserved,
    /// Can only be the name of a function or a type.
    TypeOrFunctionName,
    /// Can be any name.
    Unreserved,
}

/// A keyword.
#[derive(Clone, Copy, Debug)]
pub struct Keyword {
    /// In lower case.
    pub word: &'static str,
    /// Its category.
    pub category: Category,
    /// Whether it can be a label without AS.
    pub bare_label: bool,
}

/// Category, whether the words can be labels without AS, and the words.
const WORDS: &[(Category, bool, &str)] = &[
    (Category::ColumnName, false, "char character precision"),
    (
        Category::ColumnName,
        true,
        "between bigint bit boolean coalesce dec decimal exists extract float greatest grouping inout int integer \
    interval least national nchar none normalize nullif numeric out overlay position real row setof smallint \
    substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement xmlexists xmlforest \
    xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable",
    ),
    (
        Category::Reserved,
        false,
        "array as create except fetch for from grant group having intersect into limit offset on order returning to \
    union where window with",
    ),
    (
        Category::Reserved,
        true,
        "all analyse analyze and any asc asymmetric both case cast check collate column constraint current_catalog \
    current_date current_role current_time current_timestamp current_user default deferrable desc distinct do \
    else end false foreign in initially lateral leading localtime localtimestamp not null only or placing \
    primary references select session_user some symmetric table then trailing true unique user using variadic \
    when",
    ),
    (Category::TypeOrFunctionName, false, "isnull notnull overlaps"),
    (
        Category::TypeOrFunctionName,
        true,
        "authorization binary collation concurrently cross current_schema freeze full ilike inner is join left like \
    natural outer right similar tablesample verbose",
    ),
    (Category::Unreserved, false, "day filter hour minute month over second varying within without year"),
    (
        Category::Unreserved,
        true,
        "abort absolute access action add admin after aggregate also alter always asensitive assertion assignment at \
    atomic attach attribute backward before begin breadth by cache call called cascade cascaded catalog chain \
    characteristics checkpoint class close cluster columns comment comments commit committed compression \
    configuration conflict connection constraints content continue conversion copy cost csv cube current cursor \
    cycle data database deallocate declare defaults deferred definer delete delimiter delimiters depends depth \
    detach dictionary disable discard document domain double drop each enable encoding encrypted enum escape \
    event exclude excluding exclusive execute explain expression extension external family finalize first \
    following force forward function functions generated global granted groups handler header hold identity if \
    immediate immutable implicit import include including increment index indexes inherit inherits inline input \
    insensitive insert instead invoker isolation key label language large last leakproof level listen load local \
    location lock locked logged mapping match matched materialized maxvalue merge method minvalue mode move name \
    names new next nfc nfd nfkc nfkd no normalized nothing notify nowait nulls object of off oids old operator \
    option options ordinality others overriding owned owner parallel parameter parser partial partition passing \
    password plans policy preceding prepare prepared preserve prior privileges procedural procedure procedures \
    program publication quote range read reassign recheck recursive ref referencing refresh reindex relative \
    release rename repeatable replace replica reset restart restrict return returns revoke role rollback rollup \
    routine routines rows rule savepoint schema schemas scroll search security sequence sequences serializable \
    server session set sets share show simple skip snapshot sql stable standalone start statement statistics \
    stdin stdout storage stored strict strip subscription support sysid system tables tablespace temp template \
    temporary text ties transaction transform trigger truncate trusted type types uescape unbounded uncommitted \
    unencrypted unknown unlisten unlogged until update vacuum valid validate validator value version view views \
    volatile whitespace work wrapper write xml yes zone",
    ),
];

static KEYWORDS: LazyLock<Vec<Keyword>> = LazyLock::new(|| {
    let of = |(category, bare_label, words): &'static (Category, bool, &'static str)| {
        let (category, bare_label) = (*category, *bare_label);
        words.split_whitespace().map(move |word| Keyword { word, category, bare_label })
    };
    let mut all: Vec<Keyword> = WORDS.iter().flat_map(of).collect();
    all.sort_unstable_by_key(|keyword| keyword.word);
    all
});

/// All keywords, sorted.
pub fn all() -> &'static [Keyword] {
    &KEYWORDS
}

/// Returns the category of a word in any case; `None` if it is not a keyword.
pub fn category(word: &str) -> Option<Category> {
    find(word).map(|keyword| keyword.category)
}

/// Returns whether a word in any case can be a label without AS. Words that are not keywords can.
pub fn is_bare_label(word: &str) -> bool {
    find(word).is_none_or(|keyword| keyword.bare_label)
}

fn find(word: &str) -> Option<&'static Keyword> {
    let small = || word.bytes().map(|byte| byte.to_ascii_lowercase());
    let found = KEYWORDS.binary_search_by(|keyword| keyword.word.bytes().cmp(small())).ok()?;
    KEYWORDS.get(found)
}
