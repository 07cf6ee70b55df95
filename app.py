"""``streamlit run app.py`` opens the demo, ``streamlit run app.py -- FOLDER`` your own set.

Streamlit imports this file once as a server (``app``: our routes besides Streamlit's own) and runs
it as the page script for every visitor.
"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st

from rexview.ui.web.server import language, shared_work, warm_up

language.set_server_language()  # before any module with texts is imported

if __name__ == "__main__":
    shared_work.reserve_place()
    warm_up.wait_for_picture()
    from rexview.ui.web.app.navigation import run

    run()
else:
    from starlette.middleware import Middleware

    from rexview.errors import EngineError
    from rexview.ui.web.access.request_checks import KnownRoutesOnly, OriginCheck
    from rexview.ui.web.app.engine_errors import show_engine_error as engine_error_said
    from rexview.ui.web.app.page_head import page_head
    from rexview.ui.web.app.routes import AppRoutes
    from rexview.ui.web.app.security_headers import SecurityHeaders, server_error
    from rexview.ui.web.link.pages import ADDRESSES
    from rexview.ui.web.server.page_work import PageWorkRecorder as NotesPageWork
    from rexview.ui.web.streamlit_adapter.page_markup import DefaultDarkTheme as DarkByDefault
    from rexview.ui.web.streamlit_adapter.process import (
        call_before_shutdown as before_stopping,
    )
    from rexview.ui.web.streamlit_adapter.process import (
        disable_external_ip_lookup as ask_nobody_outside,
    )
    from rexview.ui.web.streamlit_adapter.process import (
        disable_pages_folder as have_no_pages_folder,
    )
    from rexview.ui.web.streamlit_adapter.process import (
        enable_tcp_nodelay as send_at_once,
    )
    from rexview.ui.web.streamlit_adapter.process import (
        keep_downloads,
        log_in_one_line,
    )
    from rexview.ui.web.streamlit_adapter.process import (
        skip_bare_mode_check as ask_not_who_runs_it,
    )

    ask_nobody_outside()
    ask_not_who_runs_it()
    have_no_pages_folder()
    keep_downloads()
    log_in_one_line(EngineError)
    send_at_once()
    app_routes = [AppRoutes()]

    def end_streams() -> None:
        """End the event streams of those who follow a meeting."""
        if live := sys.modules.get("rexview.ui.meeting.live.route"):
            live.end_streams()

    before_stopping(end_streams)

    @asynccontextmanager
    async def lifespan(app: st.App) -> AsyncIterator[None]:
        """Prepare for the first visitor; at the end, close each reviews database to one file."""
        warm_up.start_warm_up()
        try:
            yield
        finally:
            if ended := sys.modules.get("rexview.ui.web.access.revoked_sessions"):
                ended.SIGN_OUTS.stop()
            if connection := sys.modules.get("rexview.store.database.connection"):
                connection.close_databases()

    app = st.App(
        __file__,
        routes=app_routes,
        middleware=[
            Middleware(SecurityHeaders),
            Middleware(OriginCheck),
            Middleware(KnownRoutesOnly, app_routes=app_routes, pages=ADDRESSES.values()),
            Middleware(NotesPageWork),
            Middleware(DarkByDefault, more=page_head),
        ],
        on_script_error=engine_error_said,
        exception_handlers={Exception: server_error},
        lifespan=lifespan,
    )
