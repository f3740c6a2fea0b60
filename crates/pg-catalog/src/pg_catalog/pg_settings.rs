//! `pg_settings`: the session's settings.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::Source;

pub(super) static PG_SETTINGS: Definition = Definition {
    oid: 12104,
    name: "pg_settings",
    kind: Kind::View,
    columns: "name:text setting:text unit:text category:text short_desc:text extra_desc:text context:text vartype:text \
    source:text min_val:text max_val:text enumvals:_text boot_val:text reset_val:text sourcefile:text sourceline:int4 \
    pending_restart:bool",
    rows: Some(rows),
};

fn rows(source: &Source, rows: &mut Rows) {
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
