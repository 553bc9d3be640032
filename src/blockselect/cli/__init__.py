"""The command `blockselect`: one module per subcommand."""
