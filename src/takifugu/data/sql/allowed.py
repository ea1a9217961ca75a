"""What an expression and a SELECT may use: a list of what is allowed, so that a new version of DuckDB adds nothing.

A function is here if it gives the same value for the same row on every day and every machine, and reads nothing but its
arguments. Functions that round differently by machine (exp, sin) are not, nor any whose value shows more than the row.
"""

from __future__ import annotations

_SCALARS = """
    + - * / // % || ~~ !~~ ~~* !~~* ~~~ ^@ & | ~ << >> -> ->>
    abs ceil ceiling floor trunc round round_even even sign signbit sqrt greatest least mod fmod fdiv isnan
    isfinite isinf bit_count gcd lcm
    ascii base64 bar char_length character_length chr concat concat_ws contains ends_with format from_base64 hex instr
    lcase left length lower lpad ltrim md5 nfc_normalize ord position prefix printf regexp_escape regexp_extract
    regexp_full_match regexp_matches regexp_replace repeat replace reverse right rpad rtrim sha1 sha256 split_part
    starts_with strip_accents strlen strpos substr substring suffix translate trim ucase unicode upper
    like_escape not_like_escape ilike_escape not_ilike_escape damerau_levenshtein levenshtein
    split str_split string_split string_to_array str_split_regex string_split_regex regexp_split_to_array
    regexp_extract_all list_extract array_extract list_element element_at len array_length list_value list_contains
    struct_pack struct_extract row map map_extract
    json_extract json_extract_string json_value json_array_length json_valid json_type
    century date_add date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth
    dayofweek dayofyear decade epoch epoch_ms epoch_ns epoch_us era hour isodow isoyear julian last_day make_date
    make_time make_timestamp make_timestamp_ms make_timestamp_ns make_timestamptz microsecond millennium millisecond
    minute month monthname nanosecond quarter second strftime strptime try_strptime time_bucket timezone to_centuries
    to_days to_decades to_hours to_microseconds to_millennia to_milliseconds to_minutes to_months to_quarters
    to_seconds to_timestamp to_weeks to_years week weekday weekofyear year yearweek days_in_month
    if ifnull nullif coalesce bitstring xor subtract add multiply divide
"""
SCALARS = frozenset(_SCALARS.split())
_TYPES = """
    varchar text string char bpchar boolean bool logical tinyint smallint integer int int1 int2 int4 int8 int16 int32
    int64 int128 short long bigint hugeint uhugeint utinyint usmallint uinteger ubigint float float4 float8 real double
    decimal numeric date time timestamp datetime timestamp_s timestamp_ms timestamp_ns timestamptz interval uuid enum
    json
"""
#: Types that a value may be cast to.
TYPES = {*_TYPES.split(), "timestamp with time zone", "double precision"}
#: Operators and comparisons of the tree, by class.
OPERATORS = {
    "OPERATOR": {"OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL", "OPERATOR_NOT", "OPERATOR_COALESCE", "COMPARE_IN",
                 "COMPARE_NOT_IN", "ARRAY_EXTRACT", "OPERATOR_NULLIF"},
    "COMPARISON": {"COMPARE_EQUAL", "COMPARE_NOTEQUAL", "COMPARE_LESSTHAN", "COMPARE_GREATERTHAN",
                   "COMPARE_LESSTHANOREQUALTO", "COMPARE_GREATERTHANOREQUALTO", "COMPARE_DISTINCT_FROM",
                   "COMPARE_NOT_DISTINCT_FROM"},
    "CONJUNCTION": {"CONJUNCTION_AND", "CONJUNCTION_OR"},
    "BETWEEN": {"COMPARE_BETWEEN", "COMPARE_NOT_BETWEEN"},
    "CASE": {"CASE_EXPR"},
    "CAST": {"OPERATOR_CAST"},
    "CONSTANT": {"VALUE_CONSTANT"},
    "COLUMN_REF": {"COLUMN_REF"},
    "FUNCTION": {"FUNCTION"},
    "SUBQUERY": {"SUBQUERY"},
    "WINDOW": {"WINDOW_ROW_NUMBER", "WINDOW_RANK", "WINDOW_RANK_DENSE", "WINDOW_LEAD", "WINDOW_LAG",
               "WINDOW_FIRST_VALUE", "WINDOW_LAST_VALUE", "WINDOW_AGGREGATE"},
}  # fmt: skip
#: Windows whose value depends on which of two equal rows comes first; their rows must be told apart.
ORDERED = {"WINDOW_ROW_NUMBER", "WINDOW_LEAD", "WINDOW_LAG", "WINDOW_FIRST_VALUE", "WINDOW_LAST_VALUE"}
#: Aggregates as windows, all exact and without an order of their own; sums of floats are refused (clocks).
WINDOWED = {"count", "count_star", "min", "max", "sum", "bool_and", "bool_or"}
#: Readers of files in sql, and what their options may be.
READERS = {
    "read_csv": {"delim", "sep", "quote", "escape", "header", "skip", "columns", "all_varchar", "null_padding",
                 "filename", "encoding"},
    "read_parquet": {"filename"},
    "parquet_scan": {"filename"},
    "read_json": {"columns", "filename"},
    "read_ndjson": {"columns", "filename"},
}  # fmt: skip
#: Fields that say where something was written, or repeat what another one says.
PLACES = {"class", "type", "alias", "query_location", "query_location_length"}
#: What other fields hold where they say nothing.
USUAL: dict[str, object] = {
    "aggregate_handling": "STANDARD_HANDLING", "with_ordinality": "WITHOUT_ORDINALITY", "nearest_count": 1,
    "nearest_order_type": "ASCENDING", "start": "UNBOUNDED_PRECEDING", "end": "CURRENT_ROW_RANGE",
    "exclude_clause": "NO_OTHER", "order_bys": {"type": "ORDER_MODIFIER", "orders": []},
    "cte_map": {"map": []},
}  # fmt: skip
