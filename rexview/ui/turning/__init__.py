"""Turning to other cases in the browser, ahead of the page.

Running a page's script on every key press takes too long. So the browser fetches the cases around
the shown one through a route (:mod:`rexview.ui.web.app.case_routes`) and shows them at once
(:file:`turning.js`). The page follows when the user pauses.
"""
