"""``streamlit run app.py`` opens the demo, ``streamlit run app.py -- FOLDER`` your own set.

Streamlit imports this file once as a server (``app``: our routes beside Streamlit's own) and runs
it as the page script for every visitor.
"""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st

if __name__ == "__main__":
    from rexview.ui.shell import run

    run()
else:
    from starlette.middleware import Middleware

    from rexview.ui.gate import OwnNamesOnly, SignedInOnly
    from rexview.ui.routes import routes
    from rexview.ui.theme import DarkByDefault

    @asynccontextmanager
    async def lifespan(app: st.App) -> AsyncIterator[None]:
        """Import everything first, then set it apart from the collection after every page run.

        When the server is stopped the reviews databases are closed, each one file then.
        """
        from rexview.store.database import close_databases
        from rexview.ui.shell import prepare_server

        prepare_server()
        gc.collect()
        gc.freeze()
        try:
            yield
        finally:
            close_databases()

    app = st.App(
        __file__,
        routes=routes(),
        middleware=[
            Middleware(OwnNamesOnly),
            Middleware(SignedInOnly),
            Middleware(DarkByDefault),
        ],
        lifespan=lifespan,
    )
