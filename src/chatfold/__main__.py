"""`python -m chatfold`: the same as the command `chatfold`."""

from chatfold.cli import main

if __name__ == "__main__":
    main()
