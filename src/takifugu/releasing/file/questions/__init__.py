"""What `takifugu init` asks about a table, as data: a terminal asks it, options answer it, and a page may, too."""
