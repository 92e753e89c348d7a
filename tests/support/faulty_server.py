"""A web server on loopback with every fault that a download can meet."""

import contextlib
import http.server
import socket
import ssl
import threading

CONTENT = bytes(range(256)) * 2000


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers as the server's list of behaviours says; the last one is for all further requests."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server = self.server
        server.ranges.append(self.headers.get("Range"))
        behaviours = server.behaviours
        behaviour = behaviours.pop(0) if len(behaviours) > 1 else behaviours[0]
        behaviour(self)

    def log_message(self, *arguments):
        pass


def answer(handler, status, headers, content):
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.wfile.write(content)
    handler.close_connection = True


def first_byte(handler):
    asked = handler.headers.get("Range")
    return int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0


def whole(handler, content=CONTENT):
    answer(handler, 200, {"Content-Length": len(content)}, content)


def resumable(handler, upto=None, content=CONTENT):
    start = first_byte(handler)
    rest = content[start:]
    headers = {"Content-Length": len(rest)}
    if start:
        headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
    answer(handler, 206 if start else 200, headers, rest[: upto and upto - start])


def cut_at(byte):
    return lambda handler: resumable(handler, upto=byte)


def aborted_at(byte):
    """Cuts the connection without the farewell of TLS."""

    def abort(handler):
        resumable(handler, upto=byte)
        # Of an SSLSocket, too, only the connection itself.
        socket.socket.shutdown(handler.connection, socket.SHUT_RDWR)

    return abort


def status(code):
    return lambda handler: answer(handler, code, {"Content-Length": 0}, b"")


def silent(handler):
    handler.server.closing.wait(20)


def without_length(handler):
    answer(handler, 200, {}, CONTENT)


def wrong_range(handler):
    if first_byte(handler):
        headers = {"Content-Length": 5, "Content-Range": "bytes 3-7/512000"}
        answer(handler, 206, headers, CONTENT[3:8])
    else:
        resumable(handler)


def to(place):
    return lambda handler: answer(handler, 302, {"Location": place, "Content-Length": 0}, b"")


@contextlib.contextmanager
def serving(certificate=None):
    """Yields the server; its list `behaviours` has functions that answer a request each.

    Args:
      certificate: a file with certificate and key, for https.
    """
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    server.daemon_threads = True
    server.ranges, server.behaviours, server.closing = [], [], threading.Event()
    server.url = (
        f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_address[1]}/weights.bin"
    )
    thread = threading.Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
