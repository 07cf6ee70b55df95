import asyncio
import inspect
import socket
import tomllib
from pathlib import Path
from threading import Event, Thread

import pytest
import uvicorn
from starlette.responses import PlainTextResponse, StreamingResponse
from streamlit import config as streamlit_config
from streamlit import delta_generator, error_util, net_util
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import pages_manager
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.media_file_manager import MediaFileManager, MediaFileMetadata
from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import script_runner
from streamlit.runtime.secrets import Secrets
from streamlit.web import bootstrap
from streamlit.web.server import server_util
from streamlit.web.server.starlette import starlette_server

from rexview.ui.web.streamlit_adapter import process
from rexview.ui.web.streamlit_adapter.process import (
    BUTTONS_KEPT,
    call_before_shutdown,
    disable_external_ip_lookup,
    disable_pages_folder,
    enable_tcp_nodelay,
    keep_downloads,
    log_in_one_line,
    secrets_loaded,
    skip_bare_mode_check,
)

CONFIG = Path(__file__).resolve().parents[4] / ".streamlit" / "config.toml"


def test_streamlit_asks_for_its_address_through_the_function_that_is_put_aside(monkeypatch):
    monkeypatch.setattr(net_util, "get_external_ip", net_util.get_external_ip)
    disable_external_ip_lookup()
    assert net_util.get_external_ip() is None
    for module in (server_util, bootstrap):
        assert "net_util.get_external_ip" in inspect.getsource(module)


def test_what_is_known_to_happen_is_one_line_in_the_log(monkeypatch, caplog):
    told = []
    monkeypatch.setattr(error_util, "_log_uncaught_app_exception", told.append)
    log_in_one_line(LookupError)
    known, other = LookupError("The tables do not answer."), ValueError("Another.")
    for error in (known, other):
        error_util.handle_user_script_exception(error, lambda _: True)
    assert told == [other]
    assert [(one.getMessage(), one.exc_info) for one in caplog.records] == [(str(known), None)]


def test_the_folder_of_pages_is_left_alone_once_that_is_said(monkeypatch):
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    disable_pages_folder()
    assert PagesManager.uses_pages_directory is False
    assert "uses_pages_directory is None" in inspect.getsource(pages_manager)
    assert "if PagesManager.uses_pages_directory" in inspect.getsource(script_runner)


@pytest.fixture
def kept_downloads(monkeypatch):
    """Downloads are kept; what that changes of Streamlit is put back afterwards."""
    for kind, name in (
        (MediaFileMetadata, "mark_for_delete"),
        (MediaFileManager, "_remove_orphaned_deferred_callables"),
        (ForwardMsgQueue, "clear"),
    ):
        monkeypatch.setattr(kind, name, getattr(kind, name))
    keep_downloads()


@pytest.mark.parametrize(("kept_s", "is_there"), [(60.0, True), (0.0, False)])
def test_a_download_made_when_it_is_clicked_is_kept_for_a_while(
    kept_downloads, monkeypatch, kept_s, is_there
):
    monkeypatch.setattr(process, "DOWNLOAD_KEPT_S", kept_s)
    storage = MemoryMediaFileStorage("/media")
    manager = MediaFileManager(storage)
    placeholder = manager.add_deferred(lambda: b"a,b", "text/csv", "1.1", "table.csv")
    url = manager.execute_deferred(placeholder)
    for _ in range(5):  # other pages ran
        manager.remove_orphaned_files()
    there = manager.read_file(url.rsplit("/", 1)[1].split(".")[0]) is not None
    assert there is is_there, "else Streamlit deletes it in another way than is known here"


def add_button(manager, text, element="download"):
    return manager.add_deferred(lambda: text, "text/csv", "1.1", "t.csv", element_id=element)


@pytest.mark.parametrize("others_run", [False, True])
def test_a_button_still_makes_its_file_while_its_page_runs_anew(kept_downloads, others_run):
    """The browser shows the button of the run before until the run has come to it."""
    manager = MediaFileManager(MemoryMediaFileStorage("/media"))
    shown = add_button(manager, b"before")
    manager.clear_session_refs()  # a run of the page begins
    if not others_run:
        add_button(manager, b"after")
    manager.remove_orphaned_files()  # a run ends, of this page or of another
    assert manager.execute_deferred(shown).endswith(".csv")


def test_what_makes_files_is_forgotten_after_a_while_and_by_number(kept_downloads, monkeypatch):
    manager = MediaFileManager(MemoryMediaFileStorage("/media"))
    for number in range(10, 20):
        manager.clear_session_refs()
        add_button(manager, b"%d" % number)
        add_button(manager, b"%d" % number, element="other")  # it takes the place of the first
        manager.remove_orphaned_files()
    kept = [(one["element_id"], one["callable"]()) for one in manager._deferred_callables.values()]
    assert sorted(kept) == [  # the last one is named
        *[("download", b"%d" % number) for number in range(20 - BUTTONS_KEPT, 20)],
        *[("other", b"%d" % number) for number in range(19 - BUTTONS_KEPT, 20)],
    ]
    monkeypatch.setattr(process, "DOWNLOAD_KEPT_S", 0.0)
    manager.remove_orphaned_files()
    assert [one["element_id"] for one in manager._deferred_callables.values()] == ["other"]
    assert manager.execute_deferred(*manager._deferred_callables)


def test_a_button_that_is_shown_again_is_not_an_old_one(kept_downloads, monkeypatch):
    manager = MediaFileManager(MemoryMediaFileStorage("/media"))
    shown = add_button(manager, b"a")
    named = manager._files_by_session_and_coord["dontcare"]
    manager.clear_session_refs()
    manager.remove_orphaned_files()
    manager._files_by_session_and_coord["dontcare"] = named
    monkeypatch.setattr(process, "DOWNLOAD_KEPT_S", 0.0)
    manager.remove_orphaned_files()
    assert manager.execute_deferred(shown)


def test_a_button_that_is_switched_off_makes_no_file_any_more(kept_downloads):
    manager = MediaFileManager(MemoryMediaFileStorage("/media"))
    shown = add_button(manager, b"a")
    manager.clear_session_refs()
    manager.remove_orphaned_files()
    manager.remove_deferred("1.1", element_id="download")
    with pytest.raises(MediaFileStorageError, match="not found"):
        manager.execute_deferred(shown)


@pytest.mark.parametrize("fragments", [None, ["a"]])
def test_where_a_file_is_reaches_a_page_that_begins_to_run_just_then(kept_downloads, fragments):
    queue, answer, drawn = ForwardMsgQueue(), ForwardMsg(), ForwardMsg()
    answer.backend_operation_response.request_id = "1"
    drawn.delta.new_element.text.body = "of the run before"
    drawn.delta.fragment_id = "a"
    queue.enqueue(drawn)
    queue.enqueue(answer)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=fragments)
    assert [one.WhichOneof("type") for one in queue.flush()] == ["backend_operation_response"]
    assert queue.is_empty()
    queue.enqueue(answer)
    queue.clear()
    assert queue.is_empty()


def test_secrets_that_cannot_be_read_are_no_error(tmp_path, monkeypatch):
    from streamlit import config

    files, of_streamlit = [str(tmp_path / "secrets.toml")], config.get_option
    monkeypatch.setattr(
        config, "get_option", lambda name: files if name == "secrets.files" else of_streamlit(name)
    )
    for content, readable in ((None, False), ("[auth\n", False), ("[auth]\na = 1\n", True)):
        if content is not None:
            (tmp_path / "secrets.toml").write_text(content)
        monkeypatch.setattr("streamlit.secrets", Secrets())
        assert secrets_loaded() is readable


@pytest.mark.parametrize("at_once", [True, False])
def test_answers_are_sent_without_waiting_for_the_browser_to_confirm_a_part(monkeypatch, at_once):
    monkeypatch.setattr(uvicorn.Server, "startup", uvicorn.Server.startup)
    if at_once:
        enable_tcp_nodelay()
    listening = starlette_server._bind_socket("127.0.0.1", 0, 5)
    settings = uvicorn.Config(PlainTextResponse("here"), lifespan="off", log_level="critical")
    server = uvicorn.Server(settings)
    serving = Thread(target=server.run, kwargs={"sockets": [listening]})
    serving.start()
    try:
        with socket.create_connection(listening.getsockname()) as browser:
            browser.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert browser.recv(1000).startswith(b"HTTP/1.1 200")
            (connection,) = server.server_state.connections
            accepted = connection.transport.get_extra_info("socket")
            nodelay = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    finally:
        server.should_exit = True
        serving.join()
        listening.close()
    assert bool(nodelay) is at_once, "Streamlit does it by itself now: send_at_once can go"


def test_a_server_with_a_stream_that_never_ends_stops_when_it_is_told_before(monkeypatch):
    monkeypatch.setattr(uvicorn.Server, "shutdown", uvicorn.Server.shutdown)
    ended = Event()

    async def events():
        yield "begun"
        while not ended.is_set():
            await asyncio.sleep(0.01)

    call_before_shutdown(ended.set)
    listening = starlette_server._bind_socket("127.0.0.1", 0, 5)
    streaming = StreamingResponse(events())
    settings = uvicorn.Config(streaming, lifespan="off", log_level="critical")
    server = uvicorn.Server(settings)
    serving = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    serving.start()
    with socket.create_connection(listening.getsockname()) as browser:
        browser.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        while b"begun" not in browser.recv(1000):
            pass
        server.should_exit = True
        serving.join(20)
    listening.close()
    assert not serving.is_alive()


def test_streamlit_knows_each_of_our_options_and_heeds_those_that_are_hidden():
    options = {
        f"{table}.{name}"
        for table, values in tomllib.loads(CONFIG.read_text(encoding="utf-8")).items()
        for name, value in values.items()
        if not isinstance(value, dict)
    }
    assert options <= streamlit_config._config_options_template.keys()
    assert 'config.get_option("runner.postScriptGC")' in inspect.getsource(script_runner)
    assert "gc.collect(2)" in inspect.getsource(script_runner)


def test_streamlit_looks_who_runs_it_unless_it_is_taken_to_have_said_so(monkeypatch):
    looked = []
    monkeypatch.setattr(delta_generator.env_util, "is_repl", lambda: looked.append(1))
    monkeypatch.setattr(delta_generator, "_use_warning_has_been_displayed", False)
    delta_generator._maybe_print_use_warning()
    assert looked == [1], "else ask_not_who_runs_it can go"
    monkeypatch.setattr(delta_generator, "_use_warning_has_been_displayed", False)
    skip_bare_mode_check()
    delta_generator._maybe_print_use_warning()
    assert looked == [1]
