"""Tables of answers: CSV, TSV, Excel."""
