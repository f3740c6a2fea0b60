//! Function calls with syntax of their own: EXTRACT, POSITION, SUBSTRING, TRIM, OVERLAY, AT TIME ZONE.

use crate::binder::Binder;
use crate::error::BindResult;
use crate::tree::{Kind, Scalar, Span};
use builtins::Ty;
use sql::ast;
use types::Datum;

impl Binder<'_> {
    pub(super) fn special(&mut self, expr: &ast::Expr) -> BindResult<Scalar> {
        use ast::Expr as E;
        let (name, args): (&str, Vec<&ast::Expr>) = match expr {
            E::AtTimeZone { timestamp, time_zone } => ("timezone", vec![time_zone, timestamp]),
            E::Position { expr, r#in } => ("position", vec![r#in, expr]),
            E::Substring { expr, substring_from: Some(from), substring_for, shorthand, .. } => (
                if *shorthand { "substr" } else { "substring" },
                [Some(expr), Some(from), substring_for.as_ref()].into_iter().flatten().map(AsRef::as_ref).collect(),
            ),
            E::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                let mut args: Vec<&ast::Expr> = vec![expr, overlay_what, overlay_from];
                args.extend(overlay_for.as_deref());
                ("overlay", args)
            }
            E::Trim { trim_where, trim_what, expr, trim_characters } => {
                let name = match trim_where {
                    Some(ast::TrimWhereField::Leading) => "ltrim",
                    Some(ast::TrimWhereField::Trailing) => "rtrim",
                    _ => "btrim",
                };
                let mut args: Vec<&ast::Expr> = vec![expr];
                args.extend(trim_what.as_deref());
                args.extend(trim_characters.iter().flatten());
                (name, args)
            }
            E::Substring { expr, substring_from: None, substring_for, .. } => {
                ("substring", [Some(expr), substring_for.as_ref()].into_iter().flatten().map(AsRef::as_ref).collect())
            }
            E::Extract { field, expr, .. } => return self.extract(&field.to_string(), expr),
            _ => return self.unsupported("this form of call"),
        };
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.scalar(arg)?);
        }
        // SUBSTRING with FOR only begins at the first character.
        if matches!(expr, E::Substring { substring_from: None, substring_for: Some(_), .. }) {
            let one = Scalar { kind: Kind::Const(Datum::Int4(1)), ty: Ty::INT4, span: Span::default() };
            values.insert(1, one);
        }
        let span = values.iter().fold(Span::default(), |all, value| all.with(value.span));
        self.call_named(name, values, span)
    }

    fn extract(&mut self, field: &str, from: &ast::Expr) -> BindResult<Scalar> {
        let from = self.scalar(from)?;
        let span = from.span;
        let field = field.trim_matches('\'').to_lowercase();
        let field = Scalar { kind: Kind::Const(Datum::Text(field)), ty: Ty::TEXT, span: Span::default() };
        self.call_named("extract", vec![field, from], span)
    }
}
