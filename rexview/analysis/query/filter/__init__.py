"""The case filter: its conditions, their refinement, and their names on screen."""
