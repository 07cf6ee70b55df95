"""What of a page is not in the language of the server: what stands outside ⟦ ⟧ in ``x-pseudo``."""
