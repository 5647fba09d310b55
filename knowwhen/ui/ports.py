"""Whether a server can start, told before it does: gradio says of every error that the ports are taken."""

import errno
import socket

from knowwhen.models.errors import SettingsError
from knowwhen.models.faults import shortened

PORTS = range(7860, 7960)  # tried one after the other if none is asked for
TAKEN = {errno.EADDRINUSE, errno.EACCES}


def check_port(host: str, port: int | None) -> None:
    """Refuse a place where a server cannot listen.

    Args:
        host: where it is to listen.
        port: None: any of `PORTS`, which are those that gradio tries.

    Raises:
        SettingsError: the port is taken, or all are, or the host is no address of this machine.
    """
    for each in PORTS if port is None else [port]:
        errors = _errors_at(host, each)
        if TAKEN & errors:
            continue
        if None in errors:
            return
        raise SettingsError(
            f"{shortened(host)!r} is no address of this machine; leave --host out, or give 0.0.0.0 for all"
        )
    where = f"port {port}" if port else f"every port from {PORTS[0]} to {PORTS[-1]}"
    raise SettingsError(f"{where} is in use or closed to you; choose another with --port")


def _errors_at(host: str, port: int) -> set[int | None]:
    """What listening fails of at each address of that name; None where it does not fail."""
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # there is no such name, or it can be none
        return set()
    errors: set[int | None] = set()
    for family, kind, protocol, _, place in places:
        try:
            with socket.socket(family, kind, protocol) as tried:
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                tried.bind(place)
            errors.add(None)
        except OSError as error:  # of one address: a machine without IPv6 still has a localhost
            errors.add(error.errno)
    return errors
