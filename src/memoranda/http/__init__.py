"""The server: the facade's verbs over HTTP, with the console. Needs the extra `server`."""
