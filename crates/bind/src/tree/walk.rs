//! Tree traversal: visitors of the inputs, expressions and operands of a node.

use super::{ColId, FrameBound, Kind, Rel, Rows, Scalar, SubqueryKind};

/// Generates the visitors for shared and for mutable trees.
macro_rules! walks {
    ($inputs:ident $scalars:ident $children:ident $($mutable:ident)?) => {
        impl Rel {
            /// Calls `visit` for each input of this node.
            pub fn $inputs<'t>(&'t $($mutable)? self, visit: &mut dyn FnMut(&'t $($mutable)? Rel)) {
                match self {
                    Self::OneRow | Self::Values { .. } | Self::Scan { .. } | Self::Computed { .. } | Self::CteScan { .. } => {}
                    Self::Filter { input, .. }
                    | Self::Project { input, .. }
                    | Self::Aggregate { input, .. }
                    | Self::Window { input, .. }
                    | Self::Unnest { input, .. }
                    | Self::Distinct { input, .. }
                    | Self::Sort { input, .. }
                    | Self::Limit { input, .. } => visit(input),
                    Self::Join { left, right, .. } | Self::SetOp { left, right, .. } => {
                        visit(left);
                        visit(right);
                    }
                    Self::Apply { outer, inner, .. } => {
                        visit(outer);
                        visit(inner);
                    }
                }
            }

            /// Calls `visit` for each expression of this node.
            pub fn $scalars<'t>(&'t $($mutable)? self, visit: &mut dyn FnMut(&'t $($mutable)? Scalar)) {
                match self {
                    Self::OneRow
                    | Self::Values { rows: Rows::Const(_), .. }
                    | Self::Scan { .. }
                    | Self::Computed { .. }
                    | Self::CteScan { .. }
                    | Self::Distinct { .. }
                    | Self::Sort { .. }
                    | Self::SetOp { .. } => {}
                    Self::Values { rows: Rows::Exprs(rows), .. } => {
                        for row in rows {
                            for value in row {
                                visit(value);
                            }
                        }
                    }
                    Self::Filter { all: on, .. } | Self::Join { on, .. } | Self::Apply { on, .. } => {
                        for condition in on {
                            visit(condition);
                        }
                    }
                    Self::Project { exprs, .. } => {
                        for (_, value) in exprs {
                            visit(value);
                        }
                    }
                    Self::Aggregate { calls, .. } => {
                        for (_, call) in calls {
                            for value in &$($mutable)? call.direct {
                                visit(value);
                            }
                        }
                    }
                    Self::Window { spec, .. } => {
                        for bound in [&$($mutable)? spec.frame.start, &$($mutable)? spec.frame.end] {
                            if let FrameBound::Preceding(value) | FrameBound::Following(value) = bound {
                                visit(value);
                            }
                        }
                    }
                    Self::Unnest { calls, .. } => {
                        for call in calls {
                            for value in &$($mutable)? call.args {
                                visit(value);
                            }
                        }
                    }
                    Self::Limit { offset, count, .. } => {
                        if let Some(value) = offset {
                            visit(value);
                        }
                        if let Some(value) = count {
                            visit(value);
                        }
                    }
                }
            }
        }

        impl Scalar {
            /// Calls `visit` for each operand, but not for the rows of a subquery.
            pub fn $children<'t>(&'t $($mutable)? self, visit: &mut dyn FnMut(&'t $($mutable)? Scalar)) {
                match &$($mutable)? self.kind {
                    Kind::Col(_) | Kind::Const(_) | Kind::Param(_) | Kind::Session(_) => {}
                    Kind::Cast { arg, .. }
                    | Kind::Not(arg)
                    | Kind::IsNull(arg)
                    | Kind::Is { arg, .. }
                    | Kind::Field(arg, _) => visit(arg),
                    Kind::Call { args, .. }
                    | Kind::Own { args, .. }
                    | Kind::Phoenix { args, .. }
                    | Kind::And(args)
                    | Kind::Or(args)
                    | Kind::Coalesce(args)
                    | Kind::Extreme { args, .. }
                    | Kind::Row(args)
                    | Kind::Array(args) => {
                        for arg in args {
                            visit(arg);
                        }
                    }
                    Kind::Case { arms, other } => {
                        for (condition, value) in arms {
                            visit(condition);
                            visit(value);
                        }
                        if let Some(other) = other {
                            visit(other);
                        }
                    }
                    Kind::CaseOf { operand, arms, other, .. } => {
                        visit(operand);
                        for (of, value) in arms {
                            visit(of);
                            visit(value);
                        }
                        if let Some(other) = other {
                            visit(other);
                        }
                    }
                    Kind::NullIf { left, args, .. } => {
                        visit(left);
                        visit(&$($mutable)? args.0);
                        visit(&$($mutable)? args.1);
                    }
                    Kind::Distinct { left, right, .. } => {
                        visit(left);
                        visit(right);
                    }
                    Kind::InList { arg, list, .. } => {
                        visit(arg);
                        for item in list {
                            visit(item);
                        }
                    }
                    Kind::AnyArray { arg, array, .. } => {
                        visit(arg);
                        visit(array);
                    }
                    Kind::RowCompare { pairs, .. } => {
                        for (_, _, left, right) in pairs {
                            visit(left);
                            visit(right);
                        }
                    }
                    Kind::Element { array, at } => {
                        visit(array);
                        for subscript in at {
                            visit(subscript);
                        }
                    }
                    Kind::Slice { array, bounds } => {
                        visit(array);
                        for (lower, upper) in bounds {
                            if let Some(lower) = lower {
                                visit(lower);
                            }
                            if let Some(upper) = upper {
                                visit(upper);
                            }
                        }
                    }
                    Kind::Subquery(subquery) => {
                        if let SubqueryKind::Quantified { left, .. } = &$($mutable)? subquery.kind {
                            for value in left {
                                visit(value);
                            }
                        }
                    }
                }
            }
        }
    };
}

walks!(each_input each_scalar each_operand);
walks!(each_input_mut each_scalar_mut each_operand_mut mut);

impl Scalar {
    /// Is there a subquery in it?
    pub fn has_subquery(&self) -> bool {
        let mut found = matches!(self.kind, Kind::Subquery(_));
        self.each_operand(&mut |operand| found = found || operand.has_subquery());
        found
    }

    /// Calls `visit` for each column that the expression reads, including the outer columns of its subqueries.
    pub fn each_column(&self, visit: &mut dyn FnMut(ColId)) {
        match &self.kind {
            Kind::Col(col) => visit(col.id),
            Kind::Subquery(subquery) => subquery.free.iter().for_each(|col| visit(col.id)),
            _ => {}
        }
        self.each_operand(&mut |operand| operand.each_column(visit));
    }

    /// Calls `visit` for each outermost subquery.
    pub fn each_subquery<'t>(&'t self, visit: &mut dyn FnMut(&'t Scalar)) {
        match &self.kind {
            Kind::Subquery(_) => visit(self),
            _ => self.each_operand(&mut |operand| operand.each_subquery(visit)),
        }
    }
}
