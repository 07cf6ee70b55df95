"""The page Run models: what is asked, exactly what is sent, the estimate, and the runs."""
