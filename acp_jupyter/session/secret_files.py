"""Files that hold secrets: an agent reads or writes them only with a person's yes.

See https://agentclientprotocol.com/protocol/file-system. Told by their names: none is opened to find out.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_ENVIRONMENTS = ".env* *.env"
_KEYS = (
    "id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk"
    " *.pem *.key *.ppk *.p12 *.pfx *.jks *.keystore *.kdbx"
)
_CREDENTIALS = (
    ".netrc _netrc .pgpass .my.cnf .npmrc .pypirc .git-credentials .htpasswd .dockercfg .vault-token .s3cfg"
    " .boto credentials credentials.* *credentials.json client_secret*.json service-account*.json"
    " service_account*.json kubeconfig *.kubeconfig *.ovpn *.tfstate .secrets secrets.json secrets.toml"
    " secrets.yaml secrets.yml"
)
_FOLDERS = (
    ".ssh/* .gnupg/* .aws/* .azure/* .kube/* .docker/config.json"
    " .config/gcloud/* .config/gh/* .config/rclone/*"
)

SECRET_PATTERNS = tuple(f"{_ENVIRONMENTS} {_KEYS} {_CREDENTIALS} {_FOLDERS}".split())
"""Patterns of a file's name, or with ``/`` of the end of its path; case does not count."""

_BACKUP = re.compile(r"(?:~|\.(?:bak|backup|old|orig|save|swp|tmp|copy|\d{1,3}))+$")
"""What editors and people put behind a name: the copy holds the same secrets."""


def is_secret(path: str, patterns: Iterable[str] = SECRET_PATTERNS) -> bool:
    """Whether a file's name says that it holds secrets.

    Args:
        path: An absolute path; ask about the real one too, where it is a link. A backup's is taken as that
            of its file.
        patterns: As those of `SECRET_PATTERNS`.
    """
    whole = path.replace("\\", "/").lower()
    lowered = [pattern.lower() for pattern in patterns]
    return _matches(whole, lowered) or _matches(_BACKUP.sub("", whole), lowered)


def _matches(whole: str, patterns: Iterable[str]) -> bool:
    name = whole.rpartition("/")[2]
    return any(
        fnmatchcase(whole, f"*/{pattern}") if "/" in pattern else fnmatchcase(name, pattern)
        for pattern in patterns
    )
