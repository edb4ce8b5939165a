"""A relay to a node that can lose an answer, after the node has done what was asked."""

import contextlib
import http.client
import http.server
import os
import ssl
import threading
import urllib.parse

from cluster import DIRECTORY, connect

HOP_BY_HOP = ("connection", "keep-alive", "transfer-encoding", "content-length")


class Relay(http.server.ThreadingHTTPServer):
    """Speaks with the certificate of the node that it stands before."""

    daemon_threads = True

    def __init__(self, node):
        super().__init__(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(DIRECTORY, node, "server.crt"), os.path.join(DIRECTORY, node, "server.key"))
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.node = urllib.parse.urlsplit(connect(node).configuration.host).netloc
        self.trust = ssl.create_default_context(cafile=os.path.join(DIRECTORY, "ca.crt"))
        self.lose = 0  # how many answers to lose from now on
        self.passed = 0  # how many requests came
        self.answered = 0  # how many the node has answered

    def url(self):
        return "https://127.0.0.1:%d" % self.server_port


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def relay(self):
        relay = self.server
        relay.passed += 1
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with contextlib.closing(http.client.HTTPSConnection(relay.node, context=relay.trust)) as onward:
            onward.request(self.command, self.path, body, dict(self.headers))
            answer = onward.getresponse()
            content = answer.read()
        relay.answered += 1
        if relay.lose > 0:
            relay.lose -= 1
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = relay

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def relay(node):
    """Runs a relay, which waits for nobody when it ends."""
    with Relay(node) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
