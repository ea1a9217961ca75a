"""What a SELECT or an expression is refused for by name, and in which words: all that is not `allowed` is refused."""

OTHER_CALL = ("calls a function in another way", "functions of DuckDB's own are called by their names")
BY_ROW = "cast, CASE, nullif, coalesce, strptime, replace and others like them are"
STABLE = "the same rows give the same table tomorrow"
QUOTES = "names with blanks or points stand in quotes: \"my column\"; texts in 'single' ones"
SAID = {
    "sample": ("takes some of the rows (SAMPLE)", "which rows these are is not said", "WHERE says which rows"),
    "group_expressions": ("groups rows (GROUP BY)", "each row comes from one record",
                          "the last row of several: QUALIFY row_number() OVER (PARTITION BY ... ORDER BY ...) = 1"),
    "distinct_on_targets": ("has DISTINCT ON", "which row is left is not said",
                            "QUALIFY row_number() OVER (PARTITION BY ... ORDER BY ...) = 1"),
    "order_bys": ("calls a function with ORDER BY", "functions are of one row", "leave ORDER BY out"),
    "cte_map": ("has a WITH inside", "steps are named once", "move WITH to the start"),
    "having": ("groups rows (HAVING)", "each row comes from one record", "WHERE or QUALIFY"),
    "filter": ("has a FILTER", "a value comes from one row", "WHERE"),
    "at_clause": ("reads a table of another time", "a source is what its files hold", ""),
    "start": ("has a frame in OVER (...)", "windows have the usual frame", "leave ROWS or RANGE out"),
    "end": ("has a frame in OVER (...)", "windows have the usual frame", "leave ROWS or RANGE out"),
}  # fmt: skip
_NAMES = """
    random uuid uuidv4 uuidv7 gen_random_uuid setseed nextval currval now today current_date current_time
    current_timestamp get_current_timestamp get_current_time transaction_timestamp current_localtime localtime
    current_localtimestamp localtimestamp current_setting getvariable getenv txid_current sleep_ms write_log
    current_query current_query_id current_transaction_id current_connection_id age user current_user session_user
    current_role current_schema current_database current_catalog version
"""
UNSTABLE = frozenset(_NAMES.split())
_SUMS = """
    any_value arbitrary arg_max arg_min avg count count_star first last list max max_by mean median min min_by mode
    string_agg sum array_agg group_concat bool_and bool_or quantile stddev variance
"""
AGGREGATES = frozenset(_SUMS.split())
