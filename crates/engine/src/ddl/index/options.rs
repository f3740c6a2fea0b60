//! Storage parameters and Phoenix properties of an index.

use crate::Session;
use crate::ddl::create_table::property;
use crate::ddl::materialized::interval;
use crate::error::{EngineResult, Fault, fail};
use catalog::CatalogError;
use sql::TableOption;
use std::collections::BTreeMap;

impl Session {
    /// Checks storage parameters, which have no effect, and Phoenix properties. Returns the number of salt buckets and
    /// the refresh interval in microseconds.
    pub(super) fn check_options(&mut self, options: &[TableOption]) -> EngineResult<(Option<u16>, Option<i64>)> {
        let (mut properties, mut every) = (BTreeMap::new(), None);
        for option in options {
            match option.name.as_str() {
                name if option.family.is_none() && PAGE_PARAMETERS.contains(&name) => {
                    self.page_parameter_without_effect(name)
                }
                "consistency" if option.family.is_none() => check_consistency(option)?,
                name if name == catalog::GUIDE_POSTS_WIDTH => {
                    let message =
                        "guide_posts_width is given for the table, and is that of its indexes too".to_string();
                    return fail(Fault::InvalidDefinition { message });
                }
                "refresh" if option.family.is_none() => {
                    every = property(option)?.1.as_deref().map(interval).transpose()?;
                }
                _ => {
                    let (name, value) = property(option)?;
                    properties.insert(name, value.unwrap_or_default());
                }
            }
        }
        match catalog::check_properties(properties) {
            Ok((salt_buckets, _)) => Ok((salt_buckets, every)),
            Err(CatalogError::UnknownProperty { name }) => fail(Fault::NoSuchIndexParameter { name }),
            Err(error) => Err(error.into()),
        }
    }
}

/// PostgreSQL's index parameters about pages. They have no effect, because entries are not stored in pages.
pub(super) const PAGE_PARAMETERS: &[&str] = &["fillfactor", "deduplicate_items"];

/// Phoenix's CONSISTENCY: only STRONG, because entries are written with their rows.
fn check_consistency(option: &TableOption) -> EngineResult<()> {
    match property(option)?.1.map(|value| value.to_ascii_lowercase()).as_deref() {
        Some("strong") => Ok(()),
        Some("eventual") => {
            let feature = "an index with CONSISTENCY = EVENTUAL (WITH (refresh = '…') makes one that a job keeps)";
            fail(Fault::Unsupported { feature: feature.to_string() })
        }
        other => {
            let (value, expected) = (other.unwrap_or_default().to_string(), "STRONG or EVENTUAL");
            fail(Fault::BadParameter { name: "consistency", value, expected })
        }
    }
}
