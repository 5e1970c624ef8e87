"""What an operator watches: log lines, metrics and traces."""
