//! `pg_settings`: the session's settings.

use crate::rows::Rows;
use crate::source::Source;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for setting in source.live.settings() {
        let values = (!setting.values.is_empty()).then_some(setting.values);
        rows.add([
            ("name", setting.name.into()),
            ("setting", setting.value.into()),
            ("unit", setting.unit.into()),
            ("category", setting.category.into()),
            ("short_desc", setting.description.into()),
            ("context", setting.context.into()),
            ("vartype", setting.kind.into()),
            ("source", setting.source.into()),
            ("min_val", setting.range.map(|(low, _)| low.to_string()).into()),
            ("max_val", setting.range.map(|(_, high)| high.to_string()).into()),
            ("enumvals", values.into()),
            ("boot_val", setting.boot.into()),
            ("reset_val", setting.reset.into()),
            ("pending_restart", false.into()),
        ]);
    }
}
