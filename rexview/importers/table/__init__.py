"""Import tables of answers: CSV, TSV, Excel."""
