"""Tables on a page: linked numbers, lists of problems, what stands behind a chart, files."""
