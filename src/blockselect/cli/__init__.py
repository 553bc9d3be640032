"""The command `blockselect`: one subcommand a file."""
