"""The database: tables, transactions, and what keeps several collectors apart."""
