"""The agenda of a meeting: its cases, their order, what is expected of them."""
