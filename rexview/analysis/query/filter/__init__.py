"""The filter: its conditions, how it is refined, and its words."""
