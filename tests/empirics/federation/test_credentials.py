"""A server proves who it is by these certificates, and a node by its key; private files are nobody else's."""

import os
import socket
import ssl
import stat
import threading

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_ssh_private_key, load_ssh_public_key

from empirics.federation.credentials import Certificates, main, make_certificates, node_key
from tests.empirics.small import refused
from theory.setting import SettingError


def greeted(server, authority, host):
    """Shake hands with a server of this certificate, as a client that trusts this authority and expects this host."""
    theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    theirs.load_cert_chain(server.certificate, server.key)
    ours = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ours.load_verify_locations(authority)
    ours.verify_flags |= ssl.VERIFY_X509_STRICT
    here, there = socket.socketpair()

    def serve():
        try:
            with theirs.wrap_socket(there, server_side=True) as connection:
                connection.recv(1)
        except OSError:
            pass

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with ours.wrap_socket(here, server_hostname=host):
            pass
    finally:
        here.close()
        thread.join()


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_another_name_or_another_authority_is_not_believed(tmp_path):
    made, other = (make_certificates(tmp_path / name, ["127.0.0.1"]) for name in "ab")
    for authority, host in (
        (made.authority, "127.0.0.2"),
        (other.authority, "127.0.0.1"),
        (made.certificate, "127.0.0.1"),  # it vouches for nobody
    ):
        with pytest.raises(ssl.SSLCertVerificationError):
            greeted(made, authority, host)


def test_private_files_are_for_their_owner_alone_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        made, pair = make_certificates(tmp_path, ["localhost"]), node_key(tmp_path / "node-0")
    finally:
        os.umask(before)
    assert mode(made.key) == mode(pair.private) == 0o600
    public = {made.authority, made.certificate, pair.public}
    assert not any("PRIVATE" in path.read_text() for path in public)
    assert set(tmp_path.iterdir()) == public | {made.key, pair.private}


def test_a_node_has_a_p384_pair_and_keeps_it(tmp_path):
    pair = node_key(tmp_path / "client-0" / "key")
    private = load_ssh_private_key(pair.private.read_bytes(), None)
    public = load_ssh_public_key(pair.public.read_bytes())
    assert isinstance(private, ec.EllipticCurvePrivateKey)
    assert isinstance(public, ec.EllipticCurvePublicKey)
    assert private.curve.name == "secp384r1"
    assert private.public_key() == public
    content = pair.private.read_bytes()
    pair.public.unlink()
    again = node_key(tmp_path / "client-0" / "key")
    assert (again.private.read_bytes(), load_ssh_public_key(again.public.read_bytes())) == (content, public)


@pytest.mark.parametrize("content", [b"", b"no key", b"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n"])
def test_what_is_no_key_is_refused_and_kept(tmp_path, content):
    (tmp_path / "key").write_bytes(content)
    assert "no private key" in refused(node_key, tmp_path / "key")
    assert (tmp_path / "key").read_bytes() == content


def test_what_is_no_host_gets_no_certificate(tmp_path):
    for hosts in ([], [""], ["a b"], ["http://server"], ["server:9092"]):
        with pytest.raises(SettingError):  # which repeats what was given
            make_certificates(tmp_path / "made", hosts)
        assert not (tmp_path / "made").exists()


def test_the_command_makes_certificates_once_for_each_of_a_server_s_names(tmp_path, capsys):
    words = [str(tmp_path / "made"), "server.example", "192.0.2.7", "::1"]
    assert main(words) == 0
    made = Certificates.in_folder(tmp_path / "made")
    for host in ("server.example", "192.0.2.7", "::1", "127.0.0.1"):
        greeted(made, made.authority, host)
    content = made.key.read_bytes()
    assert main(words) == 2
    assert "already" in capsys.readouterr().err
    assert made.key.read_bytes() == content
    assert main([]) == main(["made"]) == 2
