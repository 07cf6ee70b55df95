"""Sources of any kind: opened, recognised by their content, and read in the right order."""
