"""Which browser tests the normal check runs; ``tools.check --all`` runs all of them.

A page costs a browser and a server four seconds of processor time, and all tests would take twenty
minutes of two cores. So the normal check walks once through each flow, and asks everything that
protects readers' blinding, access, and what people have entered. Other sizes and themes, further
ways to lose a connection, and details of one control run with ``--all``.
"""

WALKS = {
    "accessibility/test_axe.py": ("test_no_page_has_what_hinders_people[every day-Dark]",),
    "accessibility/test_keys.py": ("test_what_is_typed_on_the_case_page_is_only_typed",),
    "app/test_presses.py": (
        "test_a_download_begins_though_its_button_moved_while_it_was_pressed",
        "test_a_press_counts_once_for_what_is_drawn_anew_and_not_for_another[drawn anew]",
    ),
    "curate/test_curate.py": (
        "test_a_models_scores_are_nowhere_before_the_own_ones",
        "test_five_keys_score_and_choose_and_the_counts_follow_at_once",
        "test_what_is_given_survives_a_reload_and_is_undone_by_key",
        "test_without_the_server_it_waits_here_and_is_sent_later",
    ),
    "curate/test_sample.py": ("test_questions_are_judged_by_key_and_the_shares_follow",),
    "data/test_import_walk.py": (
        "test_an_uploaded_table_becomes_a_set_that_opens[1440]",
        "test_the_page_asks_which_file_has_the_reference",
    ),
    "export/test_export_dialog.py": (
        "test_what_the_filter_leaves_with_pseudonyms",
        "test_one_case_in_one_click[Slide-PK]",
    ),
    "export/test_offline_html.py": (
        "test_a_meeting_begins_with_its_minutes_and_turns_through_its_cases",
        "test_every_text_stays_text",
    ),
    "first_minutes/test_phone.py": (
        "test_a_phone_has_the_pages_at_its_foot",
        "test_nothing_on_a_phone_is_read_sideways_cut_or_missing",
    ),
    "meeting/test_agenda.py": ("test_an_agenda_is_put_in_order_and_what_was_typed_is_there_again",),
    "meeting/test_decisions.py": ("test_what_somebody_else_decided_meanwhile_is_told_and_stays",),
    "meeting/test_following.py": (
        "test_a_followers_browser_gets_nothing_before_it_is_revealed[False]",
    ),
    "meeting/test_presenting.py": (
        "test_the_film_has_the_height_of_the_screen_and_the_question_stays[1920-1080-Dark]",
        "test_what_is_not_shown_yet_is_nowhere",
        "test_after_the_last_step_the_meeting_decides",
    ),
    "meeting/test_whole_meeting.py": ("test_a_meeting_of_five_cases_from_agenda_to_minutes",),
    "own_words/test_own_words.py": (
        "test_written_found_read_and_counted",
        "test_hostile_words_in_every_field_are_only_words",
    ),
    "reports/test_report_generation_walk.py": (
        "test_a_head_ranks_and_a_number_opens_the_worst_first",
    ),
    "run_models/test_run_models.py": (
        "test_the_exact_request_is_shown_and_nothing_is_sent",
        "test_a_run_is_started_watched_paused_and_goes_on",
        "test_a_killed_run_says_so_and_is_resumed_after_a_restart_of_the_server",
        "test_another_computer_needs_a_tick",
        "test_what_was_agreed_for_one_address_is_not_agreed_for_another",
    ),
    "scoring/test_blinded_reader.py": (
        "test_a_judge_in_the_link_changes_nothing_on_the_score_page",
        "test_a_readers_traffic_holds_nothing_hidden",
        "test_alone_the_score_page_holds_nothing_hidden_either",
        "test_an_adjudicators_traffic_names_no_model",
        "test_other_pages_and_links_of_others_give_a_reader_nothing",
        "test_what_a_reader_asks_for_beyond_the_page_is_refused",
        "test_what_is_shown_on_request_brings_nothing_else",
    ),
    "scoring/test_saving.py": (
        "test_a_reload[verdict]",
        "test_a_server_that_is_killed",
        "test_a_consensus_that_is_being_typed_outlives_a_reload",
    ),
    "scoring/test_score.py": (
        "test_scores_by_keys_and_clicks",
        "test_undo_takes_back_what_was_done_last",
        "test_a_comment_is_kept_with_every_letter",
        "test_nothing_is_lost_when_cases_are_turned_fast",
        "test_the_report_comes_on_request_only",
        "test_scores_wait_for_a_server_that_is_gone",
        "test_all_is_scored_and_the_models_are_named",
        "test_a_blinded_reader_gets_nothing_that_is_hidden",
    ),
    "scoring/test_tasks.py": (
        "test_questions_are_answered_by_keys_and_settled_by_the_next",
        "test_two_reports_are_compared_under_letters",
        "test_a_report_is_corrected_line_by_line",
    ),
    "streamlit_adapter/test_streamlits_page.py": ("",),
    "test_app.py": (
        "test_the_main_walk",
        "test_a_link_to_a_page_works_as_the_first_request",
        "test_fast_paging_ends_where_the_keys_say[jjjkk]",
        "test_dark_until_light_is_chosen_on_every_page",
        "test_under_a_base_path",
        "test_pixels_are_for_sealed_links_only",
        "test_hostile_texts_stay_texts",
        "test_a_missing_and_a_broken_image_are_told_in_their_place",
    ),
    "test_asked_again.py": ("test_they_are_folded_away_and_say_what_differs",),
    "test_browse.py": (
        "test_from_a_number_to_its_cases_to_one_case_and_back",
        "test_cards_show_the_picture_with_boxes_over_it",
        "test_a_link_opens_in_the_same_state",
    ),
    "test_charts.py": ("test_a_bar_opens_its_cases",),
    "test_choice_question.py": ("test_each_option_says_who_chose_it_and_turns_with_the_case",),
    "test_evidence.py": (
        "test_a_finding_lights_answers_report_and_boxes_and_back",
        "test_failures_are_gone_through_judged_and_added_by_keys_and_nothing_moves",
    ),
    "test_hostile_walk.py": ("",),
    "test_live.py": ("test_a_walk_through_adjudication",),
    "test_page_scripts.py": (
        "test_no_script_of_ours_is_asked_for_only_when_a_page_has_run[root-case]",
    ),
    "test_people.py": (
        "test_a_reader_gets_nothing_of_the_other_pages",
        "test_a_reader_learns_nothing_from_another_set_either",
        "test_a_sign_in_ends",
        "test_a_team_is_shown_only_sets_from_folders_that_are_allowed",
        "test_an_address_that_was_not_verified_opens_nothing",
        "test_files_of_others_are_refused",
        "test_others_get_the_pages_of_their_role[lea@clinic.example-seen0-refused0]",
        "test_settings_that_name_people_without_a_sign_in_let_nobody_in",
        "test_somebody_else_who_signs_in_on_that_computer_sends_nothing_of_it",
        "test_somebody_elses_links_to_pictures_are_refused",
        "test_what_was_given_when_the_sign_in_ended_is_kept_and_sent_after_the_next",
        "test_who_has_no_role_is_told_and_gets_nothing",
        "test_who_is_not_signed_in_gets_the_sign_in_page_only",
    ),
    "test_readers_walk.py": ("test_a_cell_of_the_map_opens_its_answers_and_back",),
    "test_reports.py": ("test_sentences_follow_the_case_that_is_turned_to",),
    "test_scores.py": ("test_a_cell_opens_as_many_cases_as_it_counts[low]",),
    "test_traffic.py": ("",),
    "test_typed_fields.py": (
        "test_typed_words_are_put_back_until_they_are_saved[what counts in own words]",
        "test_search_words_are_no_draft",
    ),
    "test_typed_words.py": (
        "test_typed_words_are_there_again_after_the_tab_has_crashed[notes of a decision]",
        "test_typed_words_are_there_again_after_the_tab_has_crashed[corrected line]",
        "test_typed_words_are_there_again_after_the_tab_has_crashed[comment]",
    ),
    "viewer/test_turning.py": (
        "test_ten_a_second_end_where_the_keys_say",
        "test_a_verdict_is_on_the_case_that_was_turned_to",
    ),
    "viewer/test_viewer.py": ("TestPicture", "TestWindow", "TestBoxes", "TestCases"),
    "viewer/test_viewer_against_python.py": ("",),
    "viewer/test_viewer_modules.py": ("",),
    "words/test_words.py": ("test_words_of_scripts_come_with_the_page",),
}
"""Beginnings of tests' names, by their file under ``tests/browser``; "" is all of a file."""

_FOLDER = "tests/browser/"


def is_walk(node_id: str) -> bool:
    """Return whether the normal check runs a test; true for all that are not browser tests."""
    file, _, name = node_id.partition("::")
    if not file.startswith(_FOLDER):
        return True
    return name.startswith(WALKS.get(file.removeprefix(_FOLDER), ()))
