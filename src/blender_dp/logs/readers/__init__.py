"""How each engine reads the rows of log files: the formats as SQL, and the lines that cannot be read."""
