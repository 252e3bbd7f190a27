#!/usr/bin/env python3
"""A catalog of podcast feeds that counts: catalog.py ADDRESS PORT BOOKS EPISODES SIZE RATE RECORD

Each episode of SIZE bytes, at most RATE bytes a second, with an ETag and ranges. `/rate/N` sets another rate; `/most` says how many
audio requests were under way at once, at most, since it was asked before. When it is told to stop (SIGTERM) it writes RECORD, a JSON
document: bytes sent of each path, and what each file's SHA-256 is.
"""
import hashlib
import json
import random
import os
import signal
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

address, port, books, episodes, size, rate, record = sys.argv[1], *map(int, sys.argv[2:7]), sys.argv[7]
lock = threading.Lock()
sent, under_way, most, feeds = {}, set(), 0, 0


def audio(book, episode):
    # The frames of an MPEG stream, so that booksync takes it for audio; what is in them is noise.
    noise = random.Random(f"{book}/{episode}")
    frame = bytes([0xFF, 0xFB, 0x90, 0x64]) + noise.randbytes(413)
    return (frame * (size // len(frame) + 1))[:size]


def feed(book):
    items = "".join(
        f'<item><title>Part {n}</title><guid>{book}-{n}</guid><pubDate>Sun, 01 Nov 2026 00:{n:02}:00 GMT</pubDate>'
        f'<enclosure url="http://{address}:{port}/audio/{book}/{n}.mp3" length="{size}" type="audio/mpeg"/></item>'
        for n in range(1, episodes + 1))
    return f'<rss version="2.0"><channel><title>Book {book}</title>{items}</channel></rss>'.encode()


def is_open(connection):
    """Whether its client is there: of one that was killed this process learns only when it writes."""
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        """A client that was killed is no error."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        global feeds, most, rate
        parts = self.path.strip("/").split("/")
        if parts[0] == "rate":
            rate = int(parts[1])
            return self.give(b"", "text/plain", 200, {})
        if parts[0] == "most":
            with lock:
                last, most = most, 0
            return self.give(str(last).encode(), "text/plain", 200, {})
        if parts[0] == "feed":
            with lock:
                feeds += 1
            return self.give(feed(parts[1].removesuffix(".xml")), "application/rss+xml", 200, {})
        body = audio(parts[1], parts[2].removesuffix(".mp3"))
        tag = '"%s"' % hashlib.sha256(body).hexdigest()[:16]
        fields, status, start = {"ETag": tag, "Accept-Ranges": "bytes"}, 200, 0
        wanted = self.headers.get("Range", "")
        if wanted.startswith("bytes=") and self.headers.get("If-Range", tag) == tag:
            start = int(wanted[6:].split("-")[0])
            end = int(wanted.split("-")[1] or size - 1)
            status, fields["Content-Range"] = 206, f"bytes {start}-{end}/{size}"
            body = body[start:end + 1]
        self.give(body, "audio/mpeg", status, fields, paced=True)

    def give(self, body, kind, status, fields, paced=False):
        global most
        self.send_response(status)
        for name, value in {**fields, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if not paced:
            return self.wfile.write(body)
        with lock:
            under_way.add(self.connection)
            if len(under_way) > most:
                most = max(most, sum(map(is_open, under_way)))
        try:
            at = 0
            while at < len(body):
                time.sleep(0.05)
                part = body[at:at + max(1, rate // 20)]
                self.wfile.write(part)
                at += len(part)
                with lock:
                    sent[self.path] = sent.get(self.path, 0) + len(part)
        except OSError:
            self.close_connection = True
        finally:
            with lock:
                under_way.discard(self.connection)


def stop(*_):
    digests = {f"/audio/{b}/{n}.mp3": hashlib.sha256(audio(str(b), str(n))).hexdigest()
               for b in range(books) for n in range(1, episodes + 1)}
    with lock, open(record, "w") as file:
        json.dump({"sent": sent, "feeds": feeds, "digests": digests, "size": size}, file)
    # Its threads may be held by clients that never end.
    os._exit(0)


signal.signal(signal.SIGTERM, stop)
Server((address, port), Handler).serve_forever()
