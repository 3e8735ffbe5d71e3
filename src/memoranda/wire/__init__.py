"""How the facade travels: values as JSON, verbs as doors of a server, errors as problems. No sockets in here."""
