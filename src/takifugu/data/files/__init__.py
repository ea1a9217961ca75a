"""Files as rows: texts, sheets, tables of SQLite, frames, and the functions of SQL that read files."""
