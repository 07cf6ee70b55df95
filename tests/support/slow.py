"""What only ``tools.check --all`` runs: what takes seconds to minutes and rarely breaks.

Browser tests have a list of their own, of what the normal check runs
(:mod:`support.browser.walks`). Of each promise a quick test stays in the normal check: of the ways
to be killed, stopped and resumed, the one that loses most.
"""

from typing import Final

from support.browser.walks import is_walk

SLOW: Final = (
    # making films of the demonstration
    "tests/demo/test_regenerate.py",
    "tests/demo/test_patients.py",
    "tests/demo/test_mediastinum.py",
    # what measures, and the tests of the tests
    "tests/bench/",
    "tests/suite/test_whole_files.py",
    "tests/suite/test_changed.py::test_a_module_is_tested_by_what_imports_it_directly_or_through",
    # packages of requirements-dev-all.txt and torch
    "tests/analysis/query/clickhouse/",
    "tests/pages/on_clickhouse/",
    "tests/spread/test_ray_cluster.py",
    "tests/analysis/run_models/test_local_needs.py",
    "tests/models/local/test_model.py",
    "tests/models/endpoints/test_transformers_serve.py",
    "tests/cli/curate/test_local.py",
    "tests/cli/judge/test_command.py::test_a_model_that_writes_nonsense",
    # processes that are started, stopped, killed and started again
    "tests/analysis/run_models/test_detached.py::test_a_new_budget_lets_a_run_go_on",
    "tests/analysis/run_models/test_detached.py::test_what_the_process_says_before_it_begins",
    "tests/analysis/run_models/test_jobs.py::test_what_cannot_be_read_is_told_and_asked_again",
    "tests/analysis/run_models/test_jobs.py::test_what_would_be_sent_is_worked_out_and_nothing",
    "tests/analysis/run_models/test_jobs.py::test_why_a_job_did_not_begin_is_told",
    "tests/cli/curate/test_command.py::test_a_killed_step_is_gone_on_with_and_pays_nothing_twice"
    "[Write",
    "tests/cli/curate/test_command.py::test_a_step_that_is_stopped_keeps_what_came",
    "tests/cli/judge/test_command.py::test_a_cancelled_run_keeps_what_came",
    "tests/cli/judge/test_command.py::test_a_killed_run_is_gone_on_with",
    "tests/cli/metrics/test_command.py::test_packages_are_called_where_they_are_installed",
    "tests/cli/metrics/test_judge.py::test_a_killed_run_is_gone_on_with",
    "tests/cli/run/test_command.py::test_a_run_that_somebody_works_on_is_left_alone",
    "tests/cli/run/test_command.py::test_a_signal_lets_what_is_under_way_finish[2]",
    "tests/cli/run/test_command.py::test_a_terminal_shows_one_line",
    "tests/cli/run/test_command.py::test_two_signals_wait_for_nothing",
    "tests/cli/test_cli.py::test_progress_is_shown_on_a_terminal_only",
    "tests/cli/test_cli.py::test_whoever_has_read_enough_sees_no_traceback",
    "tests/cli/test_export.py::test_ended_by_a_signal_it_leaves_nothing[2]",
    "tests/cli/test_export.py::test_on_a_full_disk_a_process_of_its_own_says_no_more",
    "tests/deploy/test_deploy_files.py::test_the_image_has_what_doctor_reads",
    "tests/detect/scan/test_background.py::test_a_case_that_hangs_holds_nothing_up",
    "tests/detect/scan/test_background.py::test_an_answer_that_kills_is_found_and_given_up",
    "tests/detect/scan/test_background.py::test_no_batch_is_begun_while_somebody_waits",
    "tests/detect/scan/test_background.py::test_processes_of_a_server_have_only_time_that",
    "tests/detect/scan/test_background.py::test_the_processes_end_with_the_program_that_began",
    "tests/detect/scan/test_background.py::test_what_broke_can_be_begun_again",
    "tests/detect/scan/test_background.py::test_what_the_search_gives_up_is_told",
    "tests/doctor/test_command.py::test_a_container_for_this_computer_needs_no_sign_in",
    "tests/doctor/test_command.py::test_a_teams_faults_are_told_without_its_secrets",
    "tests/doctor/test_command.py::test_it_ends_although_something_hangs",
    "tests/doctor/test_command.py::test_settings_that_cannot_be_used_are_told_each",
    "tests/imaging/test_cache.py::test_several_processes_share_a_folder",
    "tests/metrics/test_computed.py::test_many_are_compared_beside_and_kept",
    "tests/metrics/test_computed.py::test_what_was_kept_and_cannot_be_read_is_worked_out_anew[PAR1",
    "tests/models/running/test_batches.py::test_killed_at_any_step_and_resumed",
    "tests/pages/test_so_far.py::test_a_search_that_broke_can_be_begun_again",
    "tests/pages/test_so_far.py::test_stop_and_go_on_are_for_everybody_alone",
    "tests/reviewset/checks/test_pixels.py::test_a_picture_too_large_for_a_process",
    "tests/reviewset/checks/test_pixels.py::test_many_are_decoded_in_processes_as_few_are_here",
    # more of the same kind, or of the same size: one of them stays
    "tests/analysis/query/memory/test_selecting.py::test_counts_follow_the_other_conditions[2]",
    "tests/analysis/query/memory/test_selecting.py::test_counts_follow_the_other_conditions[3]",
    "tests/text/findings/test_findings.py::TestAnyText::test_ten_times_the_text_takes_about_ten",
    "tests/export/dicom_sr/test_identity.py::test_uids_stay_until_something_else_is_said",
    "tests/imaging/test_memory.py::test_no_picture_takes_more_than_was_worked_out",
    "tests/imaging/test_raster.py::test_a_few_bytes_that_ask_for_gigabytes[a.tif]",
    "tests/importers/auto/test_made_file_sets.py::test_made_sets_arrive_whole_or_are_told[1]",
    "tests/importers/auto/test_made_file_sets.py::test_made_sets_arrive_whole_or_are_told[2]",
    "tests/importers/auto/test_made_file_sets.py::test_made_sets_arrive_whole_or_are_told[3]",
    "tests/store/test_damage.py::test_flipped_bytes_never_end_in_a_traceback_or_a_wrong_score",
    "tests/store/test_many_at_once.py::test_comments_are_read_while_others_comment[sqlite]",
)
"""Beginnings of tests' ids."""


def is_slow(node_id: str) -> bool:
    """Return whether only ``tools.check --all`` runs a test."""
    return node_id.startswith(SLOW) or not is_walk(node_id)
