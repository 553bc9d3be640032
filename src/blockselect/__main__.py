"""`python -m blockselect` is the command `blockselect`."""

from blockselect.cli.main import main

if __name__ == "__main__":
    main()
