"""`python -m lexirecall`, the same as `lexirecall`. Belongs here: nothing else."""

from lexirecall.cli import main

if __name__ == "__main__":
    main()
