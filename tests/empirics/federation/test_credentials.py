"""Servers are authenticated by certificates, nodes by keys, and only the server's own user may control it."""

import asyncio
import ipaddress
import os
import socket
import ssl
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import AsyncMock

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_ssh_private_key,
    load_ssh_public_key,
)

from empirics.federation import superlink
from empirics.federation.credentials import Certificates, main, make_certificates, node_key
from empirics.federation.superlink import NO_OWNER, AccessRule, owner
from tests.empirics.small import refused
from theory.setting import SettingError


def greeted(server, authority, host):
    """Connect to a server with this certificate, as a client that trusts this authority and expects this host."""
    theirs, ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    theirs.load_cert_chain(server.certificate, server.key)
    ours.load_verify_locations(authority)
    ours.verify_flags |= ssl.VERIFY_X509_STRICT
    out, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ours.wrap_bio(back, out, server_hostname=host)
    for side in (client, theirs.wrap_bio(out, back, server_side=True)):
        with pytest.raises(ssl.SSLWantReadError):
            side.do_handshake()
    client.do_handshake()


def test_another_name_or_authority_is_not_believed_and_a_server_issues_nothing(tmp_path):
    made, other = (make_certificates(tmp_path / name, ["127.0.0.1"]) for name in "ab")
    for authority, host in (
        (made.authority, "127.0.0.2"),
        (other.authority, "127.0.0.1"),
        (made.certificate, "127.0.0.1"),  # not an authority
    ):
        with pytest.raises(ssl.SSLCertVerificationError):
            greeted(made, authority, host)
    for file, rights in ((made.authority, (True, 0)), (made.certificate, (False, None))):
        loaded = x509.load_pem_x509_certificate(file.read_bytes())
        found = loaded.extensions.get_extension_for_class(x509.BasicConstraints).value
        assert (found.ca, found.path_length) == rights
        now = datetime.now(UTC)  # a client's clock may be a day behind
        assert ((now - loaded.not_valid_before_utc).days, (loaded.not_valid_after_utc - now).days) == (1, 364)


def test_private_files_are_for_their_owner_alone_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        made, pair = make_certificates(tmp_path, ["localhost"]), node_key(tmp_path / "node-0")
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in (made.key, pair.private)] == [0o600] * 2
    public = {made.authority, made.certificate, pair.public}
    assert not any("PRIVATE" in path.read_text() for path in public)
    assert set(tmp_path.iterdir()) == public | {made.key, pair.private}


def test_a_node_has_a_p384_pair_and_keeps_it(tmp_path):
    pair = node_key(tmp_path / "client-0" / "key")
    private = load_ssh_private_key(pair.private.read_bytes(), None)
    public = load_ssh_public_key(pair.public.read_bytes())
    assert private.curve.name == "secp384r1"
    assert private.public_key() == public
    content = pair.private.read_bytes()
    pair.public.unlink()
    again = node_key(tmp_path / "client-0" / "key")
    assert (again.private.read_bytes(), load_ssh_public_key(again.public.read_bytes())) == (content, public)


OTHER_KIND = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        *((content, "not a private key") for content in (b"", b"no key", OTHER_KIND[:60])),
        (OTHER_KIND, "must be a NIST P-384 key"),
    ],
)
def test_what_is_no_key_is_refused_and_kept(tmp_path, content, said):
    (tmp_path / "key").write_bytes(content)
    assert said in refused(node_key, tmp_path / "key")
    assert (tmp_path / "key").read_bytes() == content


def test_what_is_no_host_gets_no_certificate(tmp_path):
    for hosts in ([], [""], ["a b"], ["http://server"], ["server:9092"], ["me@server"]):
        with pytest.raises(SettingError):  # which repeats what was given
            make_certificates(tmp_path / "made", hosts)
        assert not (tmp_path / "made").exists()


def test_the_command_makes_certificates_once_for_each_of_a_server_s_names(tmp_path, capsys):
    words = [str(tmp_path / "made"), "server.example", "192.0.2.7", "::1"]
    assert main(words) == 0
    made = Certificates.in_folder(tmp_path / "made")
    common, own = capsys.readouterr().out.splitlines()
    assert common == f"for clients and the server: {made.authority}"
    assert own == f"for the server alone: {made.certificate}, {made.key}"
    for host in ("server.example", "192.0.2.7", "::1", "127.0.0.1"):
        greeted(made, made.authority, host)
    content = made.key.read_bytes()
    assert main(words) == 2
    assert "already" in capsys.readouterr().err
    made.certificate.unlink()
    assert main(words) == 2
    assert made.key.read_bytes() == content
    for usage in ([], ["made"], ["--help", "no host"]):
        assert main(usage) == 2
        assert "usage: " in capsys.readouterr().err
    assert main([str(tmp_path / "other"), "server.example"]) == 0
    other = Certificates.in_folder(tmp_path / "other")
    greeted(other, other.authority, "::1")


LINUX = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="owners of connections are unknown")
CONTROL, RUNTIME, FLEET = "/v1/control/start-run", "/v1/runtime/acquire-task", "/v1/fleet/activate-node"
# connects as another user, prints its port, and waits
VISITOR = """
import encodings.idna, os, socket, sys  # later imports may be unreadable
os.setuid(int(sys.argv[3]))
one = socket.create_connection((sys.argv[1], int(sys.argv[2])))
print(one.getsockname()[1], flush=True)
sys.stdin.readline()
"""


def answer(path, client, server, kind="http"):
    """The fate of a request: let through, refused, or closed."""
    app, send = AsyncMock(), AsyncMock()
    scope = {"type": kind, "path": path, "client": client, "server": server, "method": "POST", "headers": []}
    asyncio.run(AccessRule(app)(scope, None, send))
    if app.called:
        return "let through"
    message = send.call_args_list[0].args[0]
    return str(message.get("status", message["type"]))


@pytest.fixture(params=["127.0.0.1", "::1"])
def door(request):
    family = socket.AF_INET6 if ":" in request.param else socket.AF_INET
    try:
        listening = socket.create_server((request.param, 0), family=family)
    except OSError:
        pytest.skip("this machine has no such address")
    with listening:
        listening.settimeout(30)
        yield listening


def test_other_machines_reach_only_the_paths_of_nodes():
    there, here = ("192.0.2.7", 40000), ("192.0.2.1", 8000)
    assert answer(FLEET, there, here) == "let through"
    for path in (CONTROL, RUNTIME, "/docs", "/openapi.json", "/", "/v1/fleet", "/v1/fleetcontrol"):
        assert answer(path, there, here) == "403"
    assert answer(CONTROL, ("127.0.0.1", 40000), here) == "403"
    assert answer(CONTROL, None, here) == answer(CONTROL, there, None) == "403"
    assert answer(CONTROL, ("nonsense", 1), ("nonsense", 2)) == "403"
    assert answer(CONTROL, there, here, "websocket") == "websocket.close"


@LINUX
def test_the_own_user_controls_the_server_from_this_machine(door):
    host, port = door.getsockname()[:2]
    with closing(socket.create_connection((host, port))) as visitor, closing(door.accept()[0]):
        mine = visitor.getsockname()[:2]
        for path in (CONTROL, RUNTIME, FLEET):
            assert answer(path, mine, (host, port)) == "let through"
        assert answer(CONTROL, (host, mine[1] ^ 1), (host, port)) == "403"  # no such connection
        assert owner((ipaddress.ip_address(host), mine[1]), (ipaddress.ip_address(host), port)) == os.getuid()


@LINUX
@pytest.mark.skipif(os.getuid() != 0, reason="only root can change its user")
def test_another_user_of_this_machine_does_not(door):
    host, port = door.getsockname()[:2]
    command = [sys.executable, "-c", VISITOR, host, str(port), "65534"]
    visitor = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with visitor, closing(door.accept()[0]):
        theirs = (host, int(visitor.stdout.readline()))
        assert answer(FLEET, theirs, (host, port)) == "let through"
        for path in (CONTROL, RUNTIME):
            assert answer(path, theirs, (host, port)) == "403"
        visitor.communicate("\n")  # the closed connection is listed as root's
        ends = (ipaddress.ip_address(host), theirs[1]), (ipaddress.ip_address(host), port)
        assert owner(*ends) == NO_OWNER
        assert answer(CONTROL, theirs, (host, port)) == "403"


def test_the_owner_is_read_from_the_system_s_table_if_it_exists(tmp_path, monkeypatch):
    table, here = tmp_path / "tcp", ipaddress.ip_address("127.0.0.1")
    table.write_text("of what\n 0: 0100007F:0050 0100007F:0051 01 0:0 00:0 0 1234 0\n")
    monkeypatch.setattr(sys, "byteorder", "little")
    monkeypatch.setattr(superlink, "CONNECTION_TABLES", (table, tmp_path / "tcp6"))
    assert owner((here, 0x50), (here, 0x51)) == 1234
    table.unlink()
    for client, heard in (("127.0.0.1", "let through"), ("192.0.2.7", "403")):
        assert answer(CONTROL, (client, 5), ("127.0.0.1", 6)) == heard
