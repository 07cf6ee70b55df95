"""Read the option of a multiple-choice question that a free text chooses."""
