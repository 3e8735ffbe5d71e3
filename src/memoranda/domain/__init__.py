"""Values, errors and ports. Standard library only; every other room may import this one."""
