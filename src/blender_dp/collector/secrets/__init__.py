"""What is kept outside the database: keys, the journal, and the signing key."""
