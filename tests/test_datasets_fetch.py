"""Fetching: what is downloaded is prepared and checked in memory, cached once, and never half-written."""

import gzip
import hashlib
import io
import os
import socket
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from evenleaf.datasets import fetch as fetch_module
from evenleaf.datasets import find
from evenleaf.datasets.community_columns import UNSCALED
from evenleaf.datasets.entry import DataFile
from evenleaf.datasets.fetch import FOLDER_VARIABLE, content
from evenleaf.datasets.originals import client_names, communities_header, without_people
from evenleaf.errors import InputError

ORIGINAL = (
    b"id,name,first,last,compas_screening_date,sex,dob,age,decile_score,c_case_number,c_charge_desc,r_case_number,"
    b"vr_case_number,decile_score\r\n"
    b'1,jane q doe,jane,"doe, jr",2013-08-14,Female,1980-01-02,33,1,13-1,"Theft, ""petty""",,,1\r\n'
    b"2,zo\xe9 roe,zo\xe9,roe,2014-01-01,Female,1990-05-06,24,3,13-2,Arson in caf\xe9,14-1,,3\r\n"
)
STRIPPED = (
    b"compas_screening_date,sex,age,decile_score,c_charge_desc,decile_score\n"
    b'2013-08-14,Female,33,1,"Theft, ""petty""",1\n'
    b"2014-01-01,Female,24,3,Arson in caf\xe9,3\n"
)


def sha256(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


@dataclass
class Site:
    """A publisher on the loopback interface."""

    address: str = ""
    pages: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def offer(self, name: str, page: bytes) -> str:
        self.pages[f"/{name}"] = page
        return f"{self.address}/{name}"


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    served = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append(self.path)
            page = served.pages.get(self.path)
            self.send_response(404 if page is None else 200)
            self.send_header("Content-Length", str(len(page or b"")))
            self.end_headers()
            self.wfile.write(page or b"")

        def log_message(self, *arguments: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield served
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    place = tmp_path / "cache"
    monkeypatch.setattr(fetch_module, "cache_folder", lambda: place)
    return place


def written(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_fetched_once_then_read_from_the_cache(site: Site, cache: Path) -> None:
    page = b"a,b\n1,2\n"
    file = DataFile("some/table.csv", sha256(page), (site.offer("table.csv", page),))
    assert content(file) == page
    assert content(file) == page
    assert site.asked == ["/table.csv"]
    assert written(cache) == [cache / "some/table.csv.gz"]


def test_a_damaged_cache_is_fetched_anew(site: Site, cache: Path) -> None:
    page = b"a,b\n1,2\n"
    file = DataFile("table.csv", sha256(page), (site.offer("table.csv", page),))
    content(file)
    for damage in (gzip.compress(b"a,b\n1,3\n"), gzip.compress(page)[:-4], b"not gzip"):
        (cache / "table.csv.gz").write_bytes(damage)
        assert content(file) == page
    assert len(site.asked) == 4


def test_wrong_content_is_refused_and_not_cached(site: Site, cache: Path) -> None:
    file = DataFile("table.csv", sha256(b"right"), (site.offer("table.csv", b"wrong"),))
    with pytest.raises(InputError, match="another sha256 than"):
        content(file)
    assert written(cache) == []


def test_the_second_address_is_tried(site: Site, cache: Path) -> None:
    page = b"right"
    urls = (f"{site.address}/gone.csv", site.offer("wrong.csv", b"wrong"), site.offer("right.csv", page))
    assert content(DataFile("table.csv", sha256(page), urls)) == page
    assert site.asked == ["/gone.csv", "/wrong.csv", "/right.csv"]


def test_a_refusal_is_told(site: Site, cache: Path) -> None:
    with pytest.raises(InputError, match=r"answered 404.*nothing was cached.*EVENLEAF_DATA_DIR"):
        content(DataFile("table.csv", sha256(b""), (f"{site.address}/gone.csv",)))


def test_without_a_network_one_sentence_names_the_way_out(site: Site, cache: Path) -> None:
    with socket.socket() as briefly:
        briefly.bind(("127.0.0.1", 0))
        nobody = f"127.0.0.1:{briefly.getsockname()[1]}"
    file = DataFile("compas/compas-scores.csv", sha256(b""), (f"http://{nobody}/compas-scores.csv",))
    with pytest.raises(InputError) as caught:
        content(file)
    message = str(caught.value)
    assert f"{nobody} cannot be reached" in message
    assert f"set {FOLDER_VARIABLE} to a folder that holds compas/compas-scores.csv" in message
    assert "\n" not in message
    assert not cache.exists()


def test_an_archive_is_opened(site: Site, cache: Path) -> None:
    page = b"1,2\r\n"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("other.names", b"names")
        archive.writestr("table.data", page)
    url = site.offer("table.zip", packed.getvalue())
    assert content(DataFile("some/table.data", sha256(page), (url,))) == page
    with pytest.raises(InputError, match="not an archive with that file"):
        content(DataFile("some/absent.data", sha256(page), (url,)))
    with pytest.raises(InputError, match="not an archive with that file"):
        content(DataFile("some/absent.data", sha256(page), (site.offer("broken.zip", b"<html>"),)))


def test_personal_columns_never_reach_the_disk(site: Site, cache: Path, tmp_path: Path) -> None:
    url = site.offer("compas.csv", ORIGINAL)
    file = DataFile("compas/made-up.csv", sha256(STRIPPED), (url,), without_people)
    assert content(file) == STRIPPED
    assert [gzip.decompress(path.read_bytes()) for path in written(tmp_path)] == [STRIPPED]


def test_personal_columns_are_dropped_from_a_folder_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    (tmp_path / "made-up.csv").write_bytes(ORIGINAL)
    assert content(DataFile("made-up.csv", sha256(STRIPPED), (), without_people)) == STRIPPED


def test_a_page_that_is_no_table_fails_its_checksum(site: Site, cache: Path) -> None:
    for prepare in (without_people, client_names, communities_header):
        for page in (b"", b"<html>no</html>", b"id\n1,2\n3\n", b'id,name\n"' + b"x" * 200_000):
            file = DataFile("table.csv", sha256(b"right"), (site.offer("page", page),), prepare)
            with pytest.raises(InputError, match="another sha256"):
                content(file)
    assert written(cache) == []


def test_folder_without_the_file_or_with_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    file = DataFile("some/table.csv", sha256(b"right"))
    with pytest.raises(InputError, match=r"there is no some/table.csv \(nor some/table.csv.gz\)"):
        content(file)
    (tmp_path / "some").mkdir()
    (tmp_path / "some/table.csv").write_bytes(b"wrong")
    with pytest.raises(InputError, match="not the file it should be"):
        content(file)
    (tmp_path / "some/table.csv.gz").write_bytes(b"not gzip")
    with pytest.raises(InputError, match="not the file it should be"):
        content(file)
    (tmp_path / "some/table.csv.gz").write_bytes(gzip.compress(b"right"))
    assert content(file) == b"right"


def test_a_cache_that_cannot_be_written_is_a_warning(site: Site, cache: Path) -> None:
    cache.write_bytes(b"a file where the folder should be")
    page = b"right"
    file = DataFile("table.csv", sha256(page), (site.offer("table.csv", page),))
    with pytest.warns(UserWarning, match="could not be written"):
        assert content(file) == page


def test_clients_get_both_header_rows() -> None:
    codes = ",".join(["ID", *[f"X{number}" for number in range(1, 24)], "Y"])
    row = ",".join(["1", *["2"] * 24])
    lines = client_names(f"{codes}\r\n{row}\r\n".encode()).decode().split("\n")
    assert lines[0] == codes.removeprefix("ID")
    assert lines[1].startswith("ID,LIMIT_BAL,SEX,EDUCATION,MARRIAGE,AGE,PAY_0,PAY_2,")
    assert lines[1].endswith(",PAY_AMT6,default payment next month")
    assert lines[2:] == [row, ""]


def test_communities_get_their_header_once() -> None:
    row = ",".join(map(str, range(147)))
    expected = f"{','.join(UNSCALED)}\n{row}\n".encode()
    assert communities_header(f"{row}\r\n".encode()) == expected
    assert communities_header(expected.replace(b"\n", b"\r\n")) == expected
    assert communities_header(expected) == expected


def folder_file(name: str, path: str) -> tuple[DataFile, bytes]:
    file = find(name).file(path)
    return file, gzip.decompress((Path(os.environ[FOLDER_VARIABLE]) / f"{path}.gz").read_bytes())


@pytest.mark.needs("data")
@pytest.mark.parametrize("path", [file.path for file in find("compas").files])
def test_the_eight_columns_put_back_are_taken_out_again(path: str) -> None:
    file, stripped = folder_file("compas", path)
    lines = stripped.split(b"\n")[:-1]
    personal = [
        b"id,name,first,last,dob,c_case_number,r_case_number,vr_case_number",
        *[b"1,a,b,c,d,e,f,g"] * len(lines),
    ]
    original = b"".join(b"%s,%s\r\n" % pair for pair in zip(personal, lines, strict=False))
    assert sha256(without_people(original)) == file.sha256


@pytest.mark.needs("data")
def test_default_from_uci_is_the_recorded_content() -> None:
    file, recorded = folder_file("default", "default/default_of_credit_card_clients.csv")
    codes, _, *rows = recorded.split(b"\n")[:-1]
    uci = b"".join(line + b"\r\n" for line in [b"ID" + codes, *rows])
    # The checksum of what UCI publishes under static/public/350/data.csv.
    assert sha256(uci) == "45bcf4df62ff2e237a74eb155cabfb4bbbc171219a0637daef44fdad07503dd0"
    assert sha256(client_names(uci)) == file.sha256


@pytest.mark.needs("data")
def test_registered_files_through_the_whole_way(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, recorded = folder_file("communities", "communities/CommViolPredUnnormalizedData.txt")
    monkeypatch.delenv(FOLDER_VARIABLE)
    monkeypatch.setattr(fetch_module, "cache_folder", lambda: tmp_path)
    headerless = recorded.split(b"\n", 1)[1].replace(b"\n", b"\r\n")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("CommViolPredUnnormalizedData.txt", headerless)
    fetched = replace(file, urls=(site.offer("communities.zip", packed.getvalue()),))
    assert content(fetched) == recorded
    assert content(fetched) == recorded
    assert len(site.asked) == 1
