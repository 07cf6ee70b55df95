"""What people wrote in the open review set: where it is kept, and what several pages read of it."""
