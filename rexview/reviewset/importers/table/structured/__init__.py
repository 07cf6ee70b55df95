"""Files with records of their own: JSON, JSON Lines and Parquet, and what programs log in them."""
