"""The content of a registered file: from the user's data folder, from the cache, or from its publisher.

What is returned always has the recorded checksum. What is downloaded stays in memory until it has been
prepared and checked, so that neither a broken file nor a personal column ever reaches the disk.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import os
import warnings
import zipfile
import zlib
from pathlib import Path
from urllib.parse import urlsplit

import pooch

from evenleaf.datasets.entry import DataFile
from evenleaf.errors import InputError
from evenleaf.files import write_whole

FOLDER_VARIABLE = "EVENLEAF_DATA_DIR"
_PATIENCE = 30.0


def content(file: DataFile) -> bytes:
    """The checked bytes of a file; fetched at most once, never fetched where a data folder is set."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder:
        return _from_folder(file, Path(folder))
    place = cache_folder() / f"{file.path}.gz"
    cached = _from_cache(file, place)
    if cached is not None:
        return cached
    fresh = _from_publisher(file)
    _keep(fresh, place)
    return fresh


def cache_folder() -> Path:
    """Where fetched files are kept between runs."""
    return Path(pooch.os_cache("evenleaf"))


def _from_folder(file: DataFile, folder: Path) -> bytes:
    candidates = [folder / f"{file.path}.gz", folder / file.path]
    place = next((candidate for candidate in candidates if candidate.is_file()), None)
    if place is None:
        raise InputError(
            f"there is no {file.path} (nor {file.path}.gz) in {folder}, the folder {FOLDER_VARIABLE} names; "
            f"put it there, or unset {FOLDER_VARIABLE} to have it fetched"
        )
    found = _unpacked(place)
    checked = None if found is None else _checked(file, found)
    if checked is None:
        raise InputError(
            f"{place} is not the file it should be: its content has another sha256 than {file.sha256}; "
            f"replace it, or unset {FOLDER_VARIABLE} to have it fetched"
        )
    return checked


def _from_cache(file: DataFile, place: Path) -> bytes | None:
    """A cached file, or None where there is none or it has been damaged (it is then fetched anew)."""
    found = _unpacked(place) if place.is_file() else None
    return found if found is not None and _sha256(found) == file.sha256 else None


def _from_publisher(file: DataFile) -> bytes:
    failures: list[str] = []
    cause: Exception | None = None
    for url in file.urls:
        try:
            checked = _checked(file, _downloaded(url, file))
        except (OSError, zipfile.BadZipFile, KeyError) as error:
            failures.append(_reason(url, error))
            cause = error
            continue
        if checked is not None:
            return checked
        failures.append(f"what {urlsplit(url).netloc} sent has another sha256 than {file.sha256}")
    raise InputError(
        f"{file.path} could not be fetched ({'; '.join(failures)}) and nothing was cached; try again with a "
        f"network, or set {FOLDER_VARIABLE} to a folder that holds {file.path}"
    ) from cause


def _downloaded(url: str, file: DataFile) -> bytes:
    memory = io.BytesIO()
    # Not as a stream: a stream that ends in an error would leave its connection open.
    pooch.HTTPDownloader(timeout=_PATIENCE, stream=False)(url, memory, None)
    if not url.endswith(".zip"):
        return memory.getvalue()
    with zipfile.ZipFile(memory) as archive:
        return archive.read(Path(file.path).name)


def _reason(url: str, error: Exception) -> str:
    host = urlsplit(url).netloc
    response = getattr(error, "response", None)
    if response is not None:
        return f"{host} answered {response.status_code}"
    if isinstance(error, OSError):
        return f"{host} cannot be reached"
    return f"what {host} sent is not an archive with that file"


def _checked(file: DataFile, found: bytes) -> bytes | None:
    """The content as recorded, prepared from the publisher's form where needed; None where it is another."""
    if _sha256(found) == file.sha256:
        return found
    if file.prepare is None:
        return None
    try:
        prepared = file.prepare(found)
    except csv.Error:
        return None
    return prepared if _sha256(prepared) == file.sha256 else None


def _keep(fresh: bytes, place: Path) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, [gzip.compress(fresh, mtime=0)])
    except OSError as error:
        warnings.warn(f"{place} could not be written ({error}); the data will be fetched again", stacklevel=2)


def _unpacked(place: Path) -> bytes | None:
    raw = place.read_bytes()
    if place.suffix != ".gz":
        return raw
    try:
        return gzip.decompress(raw)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return None


def _sha256(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()
