"""``streamlit run app.py`` opens the demo, ``streamlit run app.py -- FOLDER`` your own set.

Streamlit imports this file once as a server (``app``: our routes beside Streamlit's own) and runs
it as the page script for every visitor.
"""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st

if __name__ == "__main__":
    from rexview.ui.app.shell import run

    run()
else:
    from starlette.middleware import Middleware

    from rexview.ui.access.middleware import KnownRoutesOnly, OwnNamesOnly
    from rexview.ui.access.origins import ask_nobody_outside
    from rexview.ui.app.routes import routes
    from rexview.ui.app.security_headers import SecurityHeaders, server_error
    from rexview.ui.app.theme import DarkByDefault
    from rexview.ui.link.keys import ADDRESSES

    ask_nobody_outside()
    own_routes = routes()

    @asynccontextmanager
    async def lifespan(app: st.App) -> AsyncIterator[None]:
        """Import everything first, then set it apart from the collection after every page run.

        When the server is stopped the reviews databases are closed, each one file then.
        """
        from rexview.store.database.connection import close_databases
        from rexview.ui.app.shell import prepare_server

        prepare_server()
        gc.collect()
        gc.freeze()
        try:
            yield
        finally:
            close_databases()

    app = st.App(
        __file__,
        routes=own_routes,
        middleware=[
            Middleware(SecurityHeaders),
            Middleware(OwnNamesOnly),
            Middleware(KnownRoutesOnly, own=own_routes, pages=ADDRESSES.values()),
            Middleware(DarkByDefault),
        ],
        exception_handlers={Exception: server_error},
        lifespan=lifespan,
    )
