"""Charts in Altair: every mark carries the key of the filter that opens its cases."""
