"""Two averages."""


def mean(values):
    """The sum, shared out."""
    return sum(values) / len(values)


def median(values):
    """The value in the middle."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2]
