"""What sentences say of one another, read one by one."""
