"""What every room uses: errors, registries, entries and their names, small files, long searches."""
