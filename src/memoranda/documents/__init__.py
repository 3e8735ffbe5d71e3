"""Documents: Markdown on disk becomes chunks that can be cited; and memories become Markdown. Pure where it can be."""
