"""Turning to other cases ahead of the page.

A page's script takes too long to be run for every press of a key. So the browser fetches the cases
around the one on its screen over a route (:mod:`rexview.ui.web.app.case_routes`), shows them at
once (:file:`turning.js`), and lets the page follow when the reader rests.
"""
