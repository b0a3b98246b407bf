"""`python -m evenleaf` is `evenleaf`."""

from evenleaf.cli import main

if __name__ == "__main__":
    main()
