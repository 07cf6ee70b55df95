"""How what people write reaches the database."""
