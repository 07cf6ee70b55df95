"""Which side of the patient a finding of a sentence has."""
