"""Functions that SQLite has and PostgreSQL has not, in the schema of a store: so that a statement is written once."""

FUNCTIONS = (
    # The elements of a JSON list, or of what lies at a path, as text.
    """
    create or replace function json_each(document text, place text default '$') returns table (value text)
    language sql immutable parallel safe as $$
        select element #>> '{}'
        from jsonb_path_query(document::jsonb, place::jsonpath) found,
             lateral jsonb_array_elements(
                 case when jsonb_typeof(found) = 'array' then found else jsonb_build_array(found) end) element
    $$
    """,
    """
    create or replace function round(number double precision, places integer) returns double precision
    language sql immutable parallel safe as $$ select pg_catalog.round(number::numeric, places)::double precision $$
    """,
    """
    create or replace function round(number double precision, places bigint) returns double precision
    language sql immutable parallel safe as $$
        select pg_catalog.round(number::numeric, places::integer)::double precision
    $$
    """,
    # `*` any letters, `?` one, `[...]` one of these; everything else is itself.
    r"""
    create or replace function glob(pattern text, value text) returns boolean
    language sql immutable parallel safe as $$
        select value ~ ('^(?:' || coalesce((
            select string_agg(
                case
                    when piece[1] = '*' then '.*'
                    when piece[1] = '?' then '.'
                    when left(piece[1], 1) = '[' and length(piece[1]) > 1
                        then '[' || regexp_replace(substr(piece[1], 2, length(piece[1]) - 2), '([\\\[\]])', '\\\1', 'g')
                             || ']'
                    else regexp_replace(piece[1], '([^[:alnum:][:space:]])', '\\\1', 'g')
                end, '' order by place)
            from regexp_matches(pattern, '\[[^\]]+\]|.', 'g') with ordinality as cut (piece, place)), '') || ')$')
    $$
    """,
)
