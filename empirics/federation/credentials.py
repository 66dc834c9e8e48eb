"""Certificates and keys of a federation, which authenticate the server and the nodes.

The authority's key is never written, so that it can issue no second certificate. A node's key is a NIST P-384 pair in
OpenSSH's format, as from `ssh-keygen -t ecdsa -b 384`. Private files are readable by their owner alone from the start.

    python -m empirics.federation.credentials certificates server.example 192.0.2.7
"""

import ipaddress
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_ssh_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from empirics.files import replace_file
from theory.setting import SettingError

__all__ = ["Certificates", "NodeKey", "make_certificates", "node_key"]

CURVE = ec.SECP384R1()
UNUSED_RIGHTS = (
    "content_commitment key_encipherment data_encipherment key_agreement encipher_only decipher_only"
)
VALIDITY = timedelta(days=365)
LOOPBACK = ("localhost", "127.0.0.1", "::1")  # the server's own commands
CLOCK_SKEW_MAX = timedelta(days=1)


@dataclass(frozen=True)
class Certificates:
    """The server's certificate and key, and the authority's certificate for its clients."""

    authority: Path
    certificate: Path
    key: Path

    @classmethod
    def in_folder(cls, folder: Path) -> Self:
        """The paths in a folder, whether the files exist or not."""
        return cls(folder / "ca.crt", folder / "server.crt", folder / "server.key")


@dataclass(frozen=True)
class NodeKey:
    """A node's key pair; the public part is registered with the server."""

    private: Path
    public: Path


def _write(path: Path, content: bytes, mode: int = 0o644) -> None:
    def write(beside: Path) -> None:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as handle:
            handle.write(content)

    replace_file(path, write)


def _name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        pass
    if not host.isascii() or not host or any(letter.isspace() or letter in "/:@" for letter in host):
        raise SettingError(
            f"a host is a name such as server.example or an address such as 192.0.2.7, got {host!r}"
        )
    return x509.DNSName(host)


def make_certificates(folder: Path, hosts: Sequence[str]) -> Certificates:
    """Make a server's certificate for these names and addresses, and its authority."""
    if not hosts:
        raise SettingError("a certificate needs the names and addresses by which clients reach the server")
    names = [_name(host) for host in hosts]
    now, made = datetime.now(UTC), Certificates.in_folder(folder)
    authority, server = ec.generate_private_key(CURVE), ec.generate_private_key(CURVE)
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "acdpp federation")])
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "acdpp server")])

    def begun(name: x509.Name, key: ec.EllipticCurvePrivateKey, *, issues: bool) -> x509.CertificateBuilder:
        unused = dict.fromkeys(UNUSED_RIGHTS.split(), False)
        usage = x509.KeyUsage(not issues, key_cert_sign=issues, crl_sign=issues, **unused)
        issuers = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key())
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - CLOCK_SKEW_MAX)
            .not_valid_after(now + VALIDITY)
            .add_extension(x509.BasicConstraints(ca=issues, path_length=0 if issues else None), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(issuers, critical=False)
        )

    root = begun(issuer, authority, issues=True).sign(authority, hashes.SHA384())
    serves = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    leaf = (
        begun(subject, server, issues=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(serves, critical=False)
        .sign(authority, hashes.SHA384())
    )
    folder.mkdir(parents=True, exist_ok=True)
    _write(made.key, server.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), 0o600)
    _write(made.certificate, leaf.public_bytes(Encoding.PEM))
    _write(made.authority, root.public_bytes(Encoding.PEM))
    return made


def node_key(path: Path) -> NodeKey:
    """The key pair in `path` and `path`.pub, made if the private key does not exist."""
    pair = NodeKey(path, path.with_name(f"{path.name}.pub"))
    if path.exists():
        try:
            key = load_ssh_private_key(path.read_bytes(), None)
        except (OSError, ValueError, TypeError) as error:
            raise SettingError(f"{str(path)!r} is not a private key without a passphrase ({error})") from None
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise SettingError(f"{str(path)!r} must be a NIST P-384 key: ssh-keygen -t ecdsa -b 384")
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        key = ec.generate_private_key(CURVE)
        _write(path, key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()), 0o600)
    _write(pair.public, key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH) + b"\n")
    return pair


def main(words: Sequence[str]) -> int:
    """Make certificates for a server that clients reach by these names and addresses."""
    if len(words) < 2 or words[0].startswith("-"):
        print("usage: python -m empirics.federation.credentials FOLDER HOST [HOST ...]", file=sys.stderr)
        return 2
    folder, *hosts = words
    try:
        if any(path.exists() for path in vars(Certificates.in_folder(Path(folder))).values()):
            raise SettingError(
                f"{folder!r} already has certificates: choose another folder, or move them away"
            )
        made = make_certificates(Path(folder), [*dict.fromkeys([*hosts, *LOOPBACK])])
    except (SettingError, OSError) as error:
        print(f"acdpp: {error}", file=sys.stderr)
        return 2
    print(f"for clients and the server: {made.authority}")
    print(f"for the server alone: {made.certificate}, {made.key}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
