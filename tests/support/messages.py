"""Messages of sweeps and recordings that the process remembers."""

from takifugu.influence.chains import recordings, remembered


def forget() -> None:
    """Drop all of them, so that what is asked next is computed afresh."""
    remembered.forget()
    recordings.forget()
