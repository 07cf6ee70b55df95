"""What option of a multiple-choice question a free text chooses."""
