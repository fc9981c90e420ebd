"""`python -m lexirecall`, the same as `lexirecall`. Belongs here: nothing else."""

from lexirecall.cli import run

if __name__ == "__main__":
    run()
