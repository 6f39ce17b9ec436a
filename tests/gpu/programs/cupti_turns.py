"""Tools that use CUPTI in turn in one process: torch.profiler gives it back only when told."""
import ctypes
import time


def give_back():
    """Whether it was there."""
    try:
        ctypes.CDLL(None).cuptiFinalize()
    except AttributeError:
        return False
    return True


def let_go():
    """Another tool takes CUPTI a second after it was given back."""
    if give_back():
        time.sleep(2.6)
