"""The filter panel, saved filters, and the order in which Content is worked out."""
