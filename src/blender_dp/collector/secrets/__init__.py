"""What is stored outside the database: keys of raw records, journals, and the signing key."""
