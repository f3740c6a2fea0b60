//! The list of all cases.

use super::CaseFn;

/// Every case with its name, `module::case`.
pub fn cases() -> Vec<(&'static str, CaseFn)> {
    crate::conformance_tests!(@every list _)
}

/// Generates one test per case for the store that `$make` returns: an `async fn() -> Arc<dyn Store>` in scope.
#[macro_export]
macro_rules! conformance_tests {
    ($make:ident) => {
        $crate::conformance_tests!(@every tests $make);
    };
    (@list _ $($module:ident: $($case:ident)+;)+) => {
        vec![$($((
            concat!(stringify!($module), "::", stringify!($case)),
            (|store| Box::pin($crate::suite::$module::$case(store))) as $crate::suite::CaseFn,
        ),)+)+]
    };
    (@tests $make:ident $($module:ident: $($case:ident)+;)+) => {$(
        mod $module {
            $($crate::conformance_tests!(@test $make $module $case);)+
        }
    )+};
    (@test $make:ident $module:ident $case:ident) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            $crate::suite::$module::$case(super::$make().await).await;
        }
    };
    (@every $what:ident $make:tt) => {
        $crate::conformance_tests! { @$what $make
            cells:
                a_row_is_read_back
                many_rows_are_answered_in_the_order_asked
                the_store_stamps_each_fragment
                timestamps_never_step_back
                a_replaced_row_is_the_last_one
                a_deleted_row_is_gone
                deleting_nothing_is_fine
                keys_may_have_any_bytes
                a_fragment_of_a_mebibyte_is_read_back
                a_fragment_without_cells_is_a_row;
            atomicity:
                an_empty_batch_returns_the_last_commit
                commit_numbers_grow
                the_last_mutation_of_a_row_wins
                a_batch_over_tables_is_seen_whole
                an_expected_commit_must_be_the_newest
                an_expected_absence_must_hold
                conditions_see_the_state_before_the_batch
                a_failed_condition_writes_nothing
                a_bad_mutation_writes_nothing
                concurrent_claims_of_one_key_succeed_once
                concurrent_increments_all_count;
            large:
                a_large_commit_writes_and_deletes_in_all_its_tables
                a_large_commit_is_seen_whole
                conditions_of_a_large_commit_must_hold
                rows_of_a_large_commit_carry_a_number_that_no_snapshot_before_had
                a_large_commit_without_rows_is_fine
                a_large_commit_that_cannot_be_made_leaves_nothing;
            snapshots:
                a_snapshot_repeats_exactly
                a_snapshot_holds_a_commit_whole_or_not_at_all
                a_snapshot_waits_for_its_commit
                a_synced_commit_is_published
                a_buffered_commit_is_published_by_itself
                a_sync_covers_earlier_commits
                the_newest_state_is_there_before_the_sync
                a_scan_keeps_its_snapshot
                a_scan_returns_each_row_once_beside_writers
                many_waiters_share_a_sync;
            scan:
                rows_come_in_key_order
                a_reverse_scan_is_the_mirror_image
                ends_of_ranges_are_half_open
                a_limit_ends_the_scan
                a_limit_counts_over_ranges
                hundreds_of_ranges_are_one_scan
                ranges_that_hold_nothing_yield_nothing
                only_what_is_wanted_is_handed_out
                batches_are_never_empty
                deleted_and_overwritten_rows_come_once
                counters_count
                a_scan_may_be_dropped_half_way;
            filter:
                dense_rows_are_filtered_exactly
                nulls_fail_comparisons
                null_tests_see_nulls
                all_predicates_must_hold
                rows_that_cannot_be_judged_are_returned_and_marked
                a_limit_counts_rows_that_pass
                rows_that_cannot_be_judged_do_not_use_up_the_limit
                a_filter_works_without_values_and_keys
                a_filter_without_tests_passes_all;
            regions:
                regions_are_made_from_splits
                scans_cross_regions
                split_pieces_are_exactly_the_ranges
                splitting_nothing_gives_nothing
                an_estimate_is_of_the_right_order;
            tables:
                tables_and_families_are_apart
                a_table_and_its_rows_are_made_together
                a_table_is_made_once
                a_dropped_table_is_gone
                a_table_takes_the_place_of_another_in_one_batch
                a_batch_that_fails_makes_no_table
                unknown_tables_and_families_are_told
                many_tables_live_side_by_side
                what_a_family_cannot_keep_is_refused
                what_a_scan_cannot_read_is_refused;
            bulk:
                rows_in_any_order_are_loaded
                sorted_rows_are_loaded
                a_load_is_invisible_until_finished
                a_load_that_is_dropped_leaves_nothing
                a_key_twice_in_a_load_fails_it
                a_key_that_is_there_fails_the_load
                replacing_loads_let_the_last_row_win
                a_load_into_rows_keeps_the_others
                an_empty_load_is_fine
                loaded_rows_are_stamped_and_writable
                snapshots_before_a_load_do_not_see_it
                a_load_into_an_unknown_table_or_family_is_refused;
            bulk_tables:
                rows_of_several_tables_are_loaded_as_one
                sorted_rows_are_loaded_with_their_entries
                a_duplicate_in_one_table_fails_the_load_of_all
                keys_without_a_unique_prefix_are_no_duplicates
                a_load_of_several_tables_that_is_dropped_leaves_nothing
                rows_written_beside_a_load_of_several_tables_are_kept
                a_table_that_a_load_does_not_know_is_refused;
            limits:
                a_key_at_the_limit_is_stored
                a_key_over_the_limit_is_refused
                a_fragment_over_the_limit_is_refused
                a_large_batch_is_applied;
            flushes:
                a_flush_changes_no_read
                a_major_compaction_changes_no_read
                a_held_snapshot_survives_compaction
                deletes_survive_compaction
                a_check_finds_all_rows
                a_closed_store_refuses_calls;
            random:
                operations_agree_with_the_model
                operations_with_flushes_agree_with_the_model;
        }
    };
}
