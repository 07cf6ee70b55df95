"""Tables on a page: linked numbers, lists of problems, the data of charts, downloads."""
