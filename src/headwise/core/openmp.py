"""What OpenMP reads from the environment when torch is loaded, as far as the user has not set it.

Every `import headwise` runs this file, so it imports little.
"""

import os


def set_openmp_defaults() -> None:
    """Let threads sleep while they wait, and start no more of them than a container may use."""
    # Threads that wait by spinning make small models many times slower on a busy machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    quota = processor_quota("/sys/fs/cgroup")
    if 0 < quota < (os.cpu_count() or 1):
        os.environ.setdefault("OMP_NUM_THREADS", str(quota))


def processor_quota(folder: str) -> int:
    """The processors that a container may use, rounded up; 0 without a limit.

    Args:
        folder: The control group of the container (cgroups of Linux, version 2 or 1).
    """
    for names in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        numbers = list[str]()
        try:
            for name in names:
                with open(f"{folder}/{name}", encoding="ascii") as file:
                    numbers += file.read().split()
            quota, period = map(int, numbers)
        except (OSError, ValueError):  # no such file, or "max"
            continue
        if quota > 0 and period > 0:
            return -(-quota // period)
    return 0
