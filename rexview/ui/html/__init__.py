"""Safe text, tables of numbers and lists of problems as HTML."""
