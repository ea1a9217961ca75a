"""`python -m takifugu` is the command line."""

from takifugu.cli import main

main(prog_name="takifugu")
