"""A WebSocket client in a few lines: text frames over one connection, enough for Home Assistant's API."""

import base64
import json
import os
import socket
import struct


class WebSocket:
    def __init__(self, host: str, port: int, path: str) -> None:
        self._socket = socket.create_connection((host, port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        self._file = self._socket.makefile("rb")
        status = self._file.readline()
        assert b" 101 " in status, status
        while self._file.readline().strip():
            pass

    def send(self, message: dict) -> None:
        body = json.dumps(message).encode()
        size = len(body)
        head = bytes([0x81])
        head += bytes([0x80 | size]) if size < 126 else bytes([0x80 | 126]) + struct.pack(">H", size)
        mask = os.urandom(4)
        self._socket.sendall(head + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(body)))

    def receive(self) -> dict:
        whole = b""
        while True:
            first, second = self._file.read(2)
            size = second & 0x7F
            if size == 126:
                (size,) = struct.unpack(">H", self._file.read(2))
            elif size == 127:
                (size,) = struct.unpack(">Q", self._file.read(8))
            body = self._file.read(size)
            if first & 0x0F in (0x0, 0x1):
                whole += body
                if first & 0x80:
                    return json.loads(whole)
            assert first & 0x0F != 0x8, "the server has closed the connection"

    def close(self) -> None:
        self._file.close()
        self._socket.close()
