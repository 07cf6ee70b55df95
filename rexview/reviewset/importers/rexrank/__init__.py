"""ReXrank's JSON."""
