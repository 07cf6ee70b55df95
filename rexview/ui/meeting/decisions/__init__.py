"""What meetings decide: the form, and the list of what is left to do."""
