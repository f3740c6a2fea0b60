//! Parts of aggregates that stand in place of DataFusion's own.

/// The methods of `AggregateUDFImpl` that are those of `self.own`.
macro_rules! as_own {
    () => {
        fn name(&self) -> &str {
            self.own.name()
        }

        fn aliases(&self) -> &[String] {
            self.own.aliases()
        }

        fn signature(&self) -> &datafusion::logical_expr::Signature {
            self.own.signature()
        }

        fn return_type(
            &self,
            args: &[arrow::datatypes::DataType],
        ) -> datafusion::common::Result<arrow::datatypes::DataType> {
            self.own.return_type(args)
        }

        fn coerce_types(
            &self,
            args: &[arrow::datatypes::DataType],
        ) -> datafusion::common::Result<Vec<arrow::datatypes::DataType>> {
            self.own.coerce_types(args)
        }

        fn set_monotonicity(&self, ty: &arrow::datatypes::DataType) -> datafusion::logical_expr::SetMonotonicity {
            self.own.inner().set_monotonicity(ty)
        }
    };
}

/// The methods of `AggregateUDFImpl` that ask for rows in the order of the call, where that can be had. DataFusion 55.2 asks for it
/// by default and refuses two calls with different orders, though `string_agg` sorts what it has seen, and of others only the
/// last digits of floats depend on it.
macro_rules! in_order_if_can_be {
    () => {
        fn order_sensitivity(&self) -> datafusion::logical_expr::utils::AggregateOrderSensitivity {
            datafusion::logical_expr::utils::AggregateOrderSensitivity::SoftRequirement
        }

        fn with_beneficial_ordering(
            self: Arc<Self>,
            _: bool,
        ) -> datafusion::common::Result<Option<Arc<dyn AggregateUDFImpl>>> {
            Ok(Some(self))
        }
    };
}

pub(super) use {as_own, in_order_if_can_be};
