"""How work is spread over workers: processes of this machine, or those of a Ray cluster."""
