"""What option of a multiple-choice question a free text chooses."""

from rexview.choices.choice import METHODS, ReadChoice
from rexview.choices.cues import asks_for_absence
from rexview.choices.reading import LONGEST, read_choice

__all__ = ["LONGEST", "METHODS", "ReadChoice", "asks_for_absence", "read_choice"]
