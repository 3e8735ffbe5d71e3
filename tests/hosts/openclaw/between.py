"""What stands between the plugin and the memory server: it passes on, keeps silent, or is not there."""

import contextlib
import socket
import threading


class Between:
    """A port that leads to another one, until it is told otherwise."""

    def __init__(self):
        self._to = 0
        self._passes = True
        self.connections = 0
        self._open = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def lead_to(self, port):
        self._to = port

    def keep_silent(self):
        """Connections are taken and never answered, those that are kept alive as well."""
        self._passes = False
        self._hang_up()

    def pass_on(self):
        self._passes = True
        self._hang_up()

    def close(self):
        self._listener.close()
        self._hang_up()

    def _hang_up(self):
        for each in self._open:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._open.clear()

    def _listen(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                self.connections += 1
                self._open.append(near)
                if self._passes:
                    far = socket.create_connection(("127.0.0.1", self._to))
                    self._open.append(far)
                    for one, other in ((near, far), (far, near)):
                        threading.Thread(target=_carry, args=(one, other), daemon=True).start()


def _carry(one, other):
    with contextlib.suppress(OSError):
        while data := one.recv(65_536):
            other.sendall(data)
    for each in (one, other):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
