"""Small disks of a test's own, in mounts that vanish with it."""
import os
import subprocess
import sys

from harness import WORK

MEGABYTE = 1 << 20


def in_own_mounts():
    """Starts this script again where mounts vanish with it; False where that is not possible."""
    if os.environ.get("SONDE_OWN_MOUNTS"):
        return True
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        return False
    os.environ["SONDE_OWN_MOUNTS"] = "1"
    os.execvp("unshare", ["unshare", "-m", sys.executable, os.path.abspath(sys.argv[0])])
    return False


def disk(name, megabytes):
    """A folder that is such a disk, or None."""
    path = os.path.join(WORK, name.replace(" ", "-"))
    os.mkdir(path)
    return path if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", path],
                                  capture_output=True).returncode == 0 else None


def free(path):
    info = os.statvfs(path)
    return info.f_bavail * info.f_frsize


def fill(path, leave):
    """Leaves so many bytes free. Somebody else may take some of them between the question and the answer."""
    most = 64 * MEGABYTE
    with open(os.path.join(path, "filler"), "ab") as f:
        while free(path) > leave and most >= 4096:
            step = max(min(free(path) - leave, most), 4096)
            try:
                os.posix_fallocate(f.fileno(), os.fstat(f.fileno()).st_size, step)
            except OSError:
                most = step // 2
