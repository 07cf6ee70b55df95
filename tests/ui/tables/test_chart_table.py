"""The table behind a chart."""

import pandas as pd

from rexview.ui.tables.chart_table import MOST_ROWS, chart_table_html


def test_rows_that_are_left_to_the_download_are_counted():
    full = pd.DataFrame({"n": range(MOST_ROWS)})
    assert chart_table_html(full).count("<tr") == MOST_ROWS + 1  # and its head
    assert "in the CSV" not in chart_table_html(full)
    longer = chart_table_html(pd.DataFrame({"n": range(MOST_ROWS + 3)}))
    assert longer.count("<tr") == MOST_ROWS + 1
    assert "3 more rows are in the CSV." in longer
