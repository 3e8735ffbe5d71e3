"""For tests, ours and yours: contract suites for what can be plugged in, and servers that speak real formats."""
