"""The database: tables, transactions, and the locks and leases that coordinate several collectors."""
