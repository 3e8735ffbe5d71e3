"""The console: a page that speaks to the same routes as any other client. Only static files; no memory is in them."""
