"""Questions about many answers: counted by SQL, worked out by ``rexview.stats``."""
