"""What judges say of the answers that a filter leaves."""
