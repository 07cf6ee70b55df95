"""What option of a multiple-choice question a free text chooses."""

from rexview.choices.reading import LONGEST, METHODS, ReadChoice, asks_for_absence, read_choice

__all__ = ["LONGEST", "METHODS", "ReadChoice", "asks_for_absence", "read_choice"]
