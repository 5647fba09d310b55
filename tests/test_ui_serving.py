"""The server of the page and the command that starts it: who is answered, and what is not served."""

# ruff: noqa: F811  # a fixture from ui_page is an argument by its name

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from processes import started
from ui_page import address  # noqa: F401

from knowwhen.models.errors import SettingsError

pytest.importorskip("gradio")


@pytest.mark.parametrize("file", ["/etc/passwd", str(Path(__file__)), "pyproject.toml"])
def test_no_file_of_the_disk_is_served(address: str, file: str) -> None:
    for route in ("gradio_api/file=", "file=", "gradio_api/file/"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{address}{route}{file}", timeout=30)
        assert refused.value.code in (403, 404)


def test_the_page_listens_on_this_machine_alone(address: str) -> None:
    assert address.startswith("http://127.0.0.1:")
    port = int(address.rstrip("/").rpartition(":")[2])
    with socket.socket() as other:
        assert other.connect_ex(("127.0.0.2", port)) != 0  # as any address of this machine but one
    with urllib.request.urlopen(f"{address}config", timeout=30) as answered:
        assert json.load(answered)["analytics_enabled"] is False


def answer_to(
    address: str, path: str, host: str | None = None, method: str = "GET", **headers: str
) -> tuple[int, dict[str, str]]:
    """What the server answers to a request that names another host, or another page."""
    where = address.split("/")[2]
    connection = http.client.HTTPConnection(where, timeout=30)
    connection.request(method, path, body=b"{}", headers={"Host": host or where, **headers})
    answered = connection.getresponse()
    answered.read()
    connection.close()
    return answered.status, {name.lower(): value for name, value in answered.getheaders()}


def test_a_name_that_was_let_point_here_is_not_answered(address: str) -> None:
    port = address.rstrip("/").rpartition(":")[2]
    for own in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        assert answer_to(address, "/config", f"{own}:{port}")[0] == 200
    for foreign in (
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1.evil.example",
        "localhost.",
        "[::1",
    ):
        assert answer_to(address, "/config", foreign)[0] in (400, 403)
        assert answer_to(address, "/gradio_api/queue/join", foreign, "POST")[0] in (400, 403)


def test_another_page_can_neither_ask_nor_upload_nor_frame_this_one(address: str) -> None:
    own = address.rstrip("/")
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1", "http://[::1"):
        for path in ("/gradio_api/queue/join", "/gradio_api/run/predict"):
            assert answer_to(address, path, method="POST", Origin=origin)[0] == 403
        assert answer_to(address, "/config", Origin=origin)[0] == 403
    assert answer_to(address, "/gradio_api/queue/join", method="POST", Origin=own)[0] == 422  # it was read
    for path in ("/gradio_api/upload", "/gradio_api/upload/", "/gradio_api/vibe-edit/", "/login"):
        assert answer_to(address, path, method="POST", Origin=own)[0] == 403
    for path in ("/", "/config", "/no/such/path"):
        told = answer_to(address, path)[1]
        assert told["content-security-policy"] == "frame-ancestors 'none'"
        assert told["x-content-type-options"] == "nosniff"


def test_a_port_in_use_is_refused(address: str) -> None:
    from knowwhen.ui.serving import served

    busy = int(address.rstrip("/").rpartition(":")[2])
    with (
        pytest.raises(SettingsError, match=f"^port {busy} is in use or closed to you; choose another"),
        served(port=busy),
    ):
        pass


@pytest.mark.parametrize("host", ["192.0.2.7", "no such host", "x" * 300, ""])
def test_a_host_that_is_not_this_machine_is_refused_at_once(host: str) -> None:
    from knowwhen.ui.serving import served

    began = time.monotonic()
    with pytest.raises(SettingsError, match="is no address of this machine; leave --host out"), served(host):
        pass
    assert time.monotonic() - began < 10


def test_the_command_says_where_it_is_connects_nowhere_and_ends_by_ctrl_c() -> None:
    code = (
        "import sys\n"
        "def told(event, arguments):\n"
        "    if event == 'socket.connect' and arguments[1][0] not in ('127.0.0.1', '::1'):\n"
        "        print('connects to', arguments[1], file=sys.stderr)\n"
        "sys.addaudithook(told)\n"
        "from knowwhen.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "ui", "--no-browser"]
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as serving:
        assert serving.stdout is not None
        address = serving.stdout.readline().strip()
        with urllib.request.urlopen(address, timeout=60) as answered:
            assert b"knowwhen" in answered.read()
        serving.send_signal(signal.SIGINT)
        _, shown = serving.communicate(timeout=60)
    assert serving.returncode == 130 and shown.strip().splitlines()[-1] == "knowwhen: stopped"
    assert "connects to" not in shown and "Traceback" not in shown


def test_without_gradio_one_line_says_what_to_install() -> None:
    code = "import sys; sys.modules['gradio'] = None; from knowwhen.cli import main; main()"
    command = [sys.executable, "-c", code, "ui", "--no-browser"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.strip() == "knowwhen: the page needs gradio; pip install 'knowwhen[ui]'"
