import json
import re
from urllib.parse import parse_qs

from streamlit.runtime.scriptrunner import RerunData, RerunException
from support.page_text import drawn, title

from rexview.ui.web.server import query_cache


def cards(app):
    return re.findall(r'<a class="rx-card".*?<header><b>(.*?)</b>', drawn(app), re.DOTALL)


def query(app):
    """The query of the app's link, every value as a list."""
    given = {key: app.query_params[key] for key in app.query_params}
    return {key: [value] if isinstance(value, str) else list(value) for key, value in given.items()}


def test_all_cases_with_headline_numbers(open_app):
    app = open_app("browse")
    assert title(app) == "All cases"
    assert sorted(cards(app)) == ["c1", "c2", "c3"]
    text = re.sub(r"<[^>]*>", " ", drawn(app))
    assert re.search(r"1\s+case\s+Laterality errors\s+1 rule only", text)
    assert re.search(r"1\s+case\s+Token-limit failures\s+1 rule only", text)
    assert re.search(r"1\s+case\s+Execution-vs-process gaps\s+1 rule only", text)
    assert "that can be judged, in 3 cases" in text


def test_one_case_is_not_several(open_app):
    text = re.sub(r"<[^>]*>", " ", drawn(open_app("browse", q="Question 1")))
    assert re.search(r"of 1 case\b", text)
    assert "1 cases" not in text


def test_nothing_of_a_file_is_taken_for_html(open_app, review_folder):
    cases = (review_folder / "cases.jsonl").read_text(encoding="utf-8")
    hostile = cases.replace("Question 1", "<img src=x onerror=alert(1)> \\\"'")
    (review_folder / "cases.jsonl").write_text(hostile, encoding="utf-8")
    html = drawn(open_app("browse"))
    assert "<img src=x" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html


def test_a_missing_and_a_broken_picture_do_not_keep_the_cards_away(open_app):
    html = drawn(open_app("browse"))
    assert "The image file does not exist." in html
    assert html.count("<img ") == 2  # the broken one is found out by the browser
    assert html.count("<rect ") == 1


def test_a_card_leads_to_its_case_within_the_filter(open_app):
    html = drawn(open_app("browse", failure="laterality_error"))
    (address,) = re.findall(r'<a class="rx-card" href="(.*?)"', html)
    page, _, text = address.replace("&amp;", "&").partition("?")
    assert page == "case"
    assert parse_qs(text) == {"failure": ["laterality_error"], "case": ["c1"]}


def test_a_choice_in_the_panel_goes_into_the_link(open_app):
    app = open_app("browse")
    (failures,) = [group for group in app.get("button_group") if group.key == "filter_failures_0"]
    failures.select("token_limit").run()
    assert query(app) == {"failure": ["token_limit"]}
    assert title(app) == "Token-limit failures"
    assert cards(app) == ["c1"]
    app.text_input(key="filter_search").set_value("effusion").run()
    found = {"failure": ["token_limit"], "q": ["effusion"], "mention": ["present"]}
    assert query(app) == found
    assert not app.slider  # folded conditions have no widgets until somebody opens them
    app.session_state["filter_scores_box"] = True
    app.run()
    app.slider(key="filter_gap").set_value((2.0, 4.0)).run()
    assert query(app)["gap"] == ["2.."]
    assert cards(app) == []


def test_how_a_finding_is_searched_for_is_chosen_beside_the_search(open_app):
    app = open_app("browse")
    app.text_input(key="filter_search").set_value("no effusion").run()
    assert query(app) == {"q": ["no effusion"], "mention": ["absent"]}
    assert "Shown: pleural effusion reported as absent" in drawn(app)
    assert re.search(
        r'href="browse\?q=no\+effusion&amp;mention=present"[^>]*>\d present</a>', drawn(app)
    )
    (choice,) = [group for group in app.get("button_group") if group.key == "filter_mention"]
    choice.select("any").run()
    assert query(app) == {"q": ["no effusion"], "mention": ["any"]}
    app.text_input(key="filter_search").set_value("question").run()
    assert query(app) == {"q": ["question"]}
    assert "Other ways to search" not in drawn(app)


def test_a_link_from_before_searches_the_words_as_typed(open_app):
    app = open_app("browse", q="effusion")
    (choice,) = [group for group in app.get("button_group") if group.key == "filter_mention"]
    assert choice.value == "text"
    assert "the words “effusion” as typed" in drawn(app)


def test_a_click_that_ends_a_search_keeps_it(open_app):
    """The browser sends the text with the click that takes the caret out of the field."""
    app = open_app("browse")
    (failures,) = [group for group in app.get("button_group") if group.key == "filter_failures_0"]
    app.text_input(key="filter_search").set_value("effusion")
    failures.select("token_limit").run()
    found = {"failure": ["token_limit"], "q": ["effusion"], "mention": ["present"]}
    assert query(app) == found
    assert app.text_input(key="filter_search").value == "effusion"


def test_a_search_outlives_a_click_that_breaks_off_its_run(open_app, monkeypatch):
    """Until a run has ended the browser sends the old link, and the page must not go back to it."""
    app = open_app("browse")
    broken_off = iter([True])

    def counts(*given):
        if next(broken_off, False):
            raise RerunException(RerunData(query_string=""))
        return count(*given)

    count = query_cache.counts
    monkeypatch.setattr(query_cache, "counts", counts)
    app.text_input(key="filter_search").set_value("effusion").run()
    assert next(broken_off, None) is None, "a run was broken off"
    assert query(app) == {"q": ["effusion"], "mention": ["present"]}
    assert app.text_input(key="filter_search").value == "effusion"


def test_the_back_button_takes_a_search_back(open_app):
    app = open_app("browse")
    app.text_input(key="filter_search").set_value("effusion").run()
    del app.query_params["q"], app.query_params["mention"]
    app.run()
    assert query(app) == {}
    assert app.text_input(key="filter_search").value == ""


def test_the_link_decides_what_the_widgets_show(open_app):
    app = open_app("browse", model="m", content="..2", q="left", sort="gap")
    assert app.text_input(key="filter_search").value == "left"
    assert app.slider(key="filter_content").value == (1.0, 2.0)
    assert app.selectbox(key="browse_sort").value == "gap"
    assert title(app) == "Model M, Content 2 or less, “left”"


def test_the_order_goes_into_the_link(open_app):
    app = open_app("browse", failure="laterality_error")
    app.selectbox(key="browse_sort").set_value("order").run()
    assert query(app) == {"failure": ["laterality_error"], "sort": ["order"]}


def test_nothing_found_says_why_and_offers_a_way_back(open_app):
    app = open_app("browse", model="nobody", q="xyz")
    assert "This set has no model “nobody”." in app.info[0].value
    clear = next(button for button in app.button if button.label == "Clear the filter")
    clear.click().run()
    assert query(app) == {}
    assert len(cards(app)) == 3


def test_a_link_nobody_understands_is_told_and_left_out(open_app):
    app = open_app("browse", failure="sidedness", gap="wide", page="-3", **{"as": "carpet"})
    told = " ".join(warning.value for warning in app.warning)
    assert "sidedness" in told
    assert "wide" in told
    assert len(cards(app)) == 3


def test_as_a_table(open_app):
    app = open_app("browse", **{"as": "table", "model": "m"})
    frame = app.dataframe[0].value
    assert list(frame["Case"]) == ["c1", "c2"]
    assert frame["Failures"][0] == "Laterality error, Execution-vs-process gap"
    assert frame["Gap"][0] == 3
    assert cards(app) == []


def test_filters_are_saved_by_name(open_app):
    app = open_app("browse", failure="token_limit")
    app.session_state["filter_saved_box"] = True
    app.run()
    app.text_input(key="filter_save_name").set_value("  For *Monday* ").run()
    assert app.toast[0].value == r"Saved as For \*Monday\*."
    app.query_params.clear()
    app.run()
    assert title(app) == "All cases"
    app.button(key="filter_saved_0").click().run()
    assert query(app) == {"failure": ["token_limit"]}
    app.button(key="filter_forget_0").click().run()
    assert not [button for button in app.button if button.key == "filter_saved_0"]


def test_pages_of_a_long_list(open_app, review_folder):
    first = json.loads((review_folder / "cases.jsonl").read_text(encoding="utf-8").split("\n")[0])
    rows = [json.dumps({**first, "id": f"c{number}"}) for number in range(1, 41)]
    (review_folder / "cases.jsonl").write_text("\n".join(rows), encoding="utf-8")
    app = open_app("browse", sort="order", page="2")
    assert cards(app) == [f"c{number}" for number in range(25, 41)]
    app = open_app("browse", sort="order", page="99")
    assert cards(app) == [f"c{number}" for number in range(25, 41)]
