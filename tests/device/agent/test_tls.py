"""Encryption and proxies, over real sockets."""

from __future__ import annotations

import base64
import datetime
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from blender_dp.errors import StateError
from blender_dp_device.agent.client import CollectorClient, NoResponseError
from tests.device.agent.raw_server import OK, serving


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName("localhost")]
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "certificate.pem"
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


class TestTls:
    """Certificates are checked, and a proxy sees encrypted bytes only."""

    @pytest.fixture
    def tls(self, certificate) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(certificate))

    @pytest.fixture
    def port(self, certificate) -> Iterator[int]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)

        def serve(connection: socket.socket) -> None:
            with context.wrap_socket(connection, server_side=True) as stream:
                while stream.recv(10_000):
                    stream.sendall(OK)

        with serving(serve) as url:
            yield int(url.rpartition(":")[2])

    def test_a_trusted_certificate(self, port, tls):
        one = CollectorClient(f"https://localhost:{port}", tls=tls, seconds=5)
        assert [one.get("/"), one.get("/")] == [{}, {}]
        one.close()

    def test_an_unknown_certificate_is_refused(self, port):
        with pytest.raises(NoResponseError, match="SSLCertVerificationError"):
            CollectorClient(f"https://localhost:{port}", seconds=5).get("/")

    def test_a_certificate_of_another_name_is_refused(self, port, tls):
        with pytest.raises(NoResponseError, match="SSLCertVerificationError"):
            CollectorClient(f"https://127.0.0.1:{port}", tls=tls, seconds=5).get("/")

    @pytest.mark.slow
    def test_a_server_that_never_shakes_hands(self, tls):
        silent = serving(lambda connection: connection.recv(10_000) and time.sleep(1))
        with silent as url, pytest.raises(NoResponseError, match="too slow"):
            CollectorClient(url.replace("http:", "https:"), tls=tls, seconds=0.3).get("/")

    @pytest.mark.parametrize("user", ["", "joe:s%40cret@"])
    def test_a_proxy_of_the_environment_is_used_and_reads_nothing(self, port, tls, monkeypatch, user):
        seen = []

        def proxy(connection: socket.socket) -> None:
            seen.append(connection.recv(10_000))
            connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            with socket.create_connection(("127.0.0.1", port)) as onward:
                back = threading.Thread(target=pipe, args=(onward, connection))
                back.start()
                seen.append(pipe(connection, onward))
                back.join()

        def pipe(source: socket.socket, sink: socket.socket) -> bytes:
            whole = b""
            with suppress(OSError):
                while piece := source.recv(10_000):
                    whole += piece
                    sink.sendall(piece)
                sink.shutdown(socket.SHUT_WR)
            return whole

        for name in ("NO_PROXY", "no_proxy", "https_proxy"):
            monkeypatch.delenv(name, raising=False)
        with serving(proxy) as url:
            monkeypatch.setenv("HTTPS_PROXY", url.replace("://", f"://{user}"))
            one = CollectorClient(f"https://localhost:{port}", "token" * 9, tls=tls, seconds=5)
            assert one.get("/private") == {}
            one.close()
        login = base64.b64encode(b"joe:s@cret").decode()
        head = f"CONNECT localhost:{port} HTTP/1.1\r\nHost: localhost:{port}\r\n"
        assert seen[0].decode() == head + (f"Proxy-Authorization: Basic {login}\r\n" if user else "") + "\r\n"
        assert seen[1]
        assert b"private" not in seen[1]
        assert b"token" not in seen[1]

    def test_a_proxy_that_refuses(self, tls, monkeypatch):
        def proxy(connection: socket.socket) -> None:
            connection.recv(10_000)
            connection.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")

        for name in ("NO_PROXY", "no_proxy", "https_proxy"):
            monkeypatch.delenv(name, raising=False)
        with serving(proxy) as url:
            monkeypatch.setenv("HTTPS_PROXY", url)
            with pytest.raises(NoResponseError):
                CollectorClient("https://collector.example", tls=tls, seconds=5).get("/")

    def test_no_proxy_for_hosts_without_one(self, port, tls, monkeypatch):
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
        monkeypatch.setenv("NO_PROXY", "localhost")
        one = CollectorClient(f"https://localhost:{port}", tls=tls, seconds=5)
        assert one.get("/") == {}
        one.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("scheme", ["http", "HTTP"])
def test_no_proxy_sees_plain_http(monkeypatch, host, scheme):
    """Unencrypted requests do not leave this machine, not even through a proxy."""
    with socket.create_server(("127.0.0.1", 0)) as proxy, socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
        gone.close()
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.getsockname()[1]}")
        with pytest.raises(StateError, match="does not respond"):
            CollectorClient(f"{scheme}://{host}:{port}", token="t" * 64, seconds=2).get("/")
        proxy.settimeout(0.2)
        with pytest.raises(TimeoutError):
            proxy.accept()
