"""How fast texts are read, beside medspaCy."""
