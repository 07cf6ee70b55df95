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
    from rexview.ui.web.app.engine_errors import show_engine_error
    from rexview.ui.web.app.page_head import page_head
    from rexview.ui.web.app.routes import AppRoutes
    from rexview.ui.web.app.security_headers import SecurityHeaders, server_error
    from rexview.ui.web.link.pages import ADDRESSES
    from rexview.ui.web.server.page_work import PageWorkRecorder
    from rexview.ui.web.streamlit_adapter.page_markup import DefaultDarkTheme
    from rexview.ui.web.streamlit_adapter.process import (
        call_before_shutdown,
        disable_external_ip_lookup,
        disable_pages_folder,
        enable_tcp_nodelay,
        keep_downloads,
        log_in_one_line,
        skip_bare_mode_check,
    )

    disable_external_ip_lookup()
    skip_bare_mode_check()
    disable_pages_folder()
    keep_downloads()
    log_in_one_line(EngineError)
    enable_tcp_nodelay()
    app_routes = [AppRoutes()]

    def end_streams() -> None:
        """End the event streams of those who follow a meeting."""
        if live := sys.modules.get("rexview.ui.meeting.live.route"):
            live.end_streams()

    call_before_shutdown(end_streams)

    @asynccontextmanager
    async def lifespan(app: st.App) -> AsyncIterator[None]:
        """Prepare for the first visitor; at the end, close each reviews database to one file."""
        warm_up.start_warm_up()
        try:
            yield
        finally:
            if ended := sys.modules.get("rexview.ui.web.access.revoked_sessions"):
                ended.SIGN_IN_REVOCATIONS.stop()
            if connection := sys.modules.get("rexview.store.database.connection"):
                connection.close_databases()

    app = st.App(
        __file__,
        routes=app_routes,
        middleware=[
            Middleware(SecurityHeaders),
            Middleware(OriginCheck),
            Middleware(KnownRoutesOnly, app_routes=app_routes, pages=ADDRESSES.values()),
            Middleware(PageWorkRecorder),
            Middleware(DefaultDarkTheme, more=page_head),
        ],
        on_script_error=show_engine_error,
        exception_handlers={Exception: server_error},
        lifespan=lifespan,
    )
