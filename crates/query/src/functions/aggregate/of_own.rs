//! Delegation for aggregates that replace one of DataFusion's own.

/// Delegates methods of `AggregateUDFImpl` to `self.own`.
macro_rules! delegate_to_own {
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

pub(in crate::functions) use delegate_to_own;
