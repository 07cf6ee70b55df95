"""The route of the cases around the shown one, for a sealed link from a page.

It sends what the page itself would show to the same person, made by the page's own functions: on
the Score page no model, no flag, and no report before it was requested.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rexview.analysis.query.engine import Position
from rexview.analysis.query.study_tasks import find_item_case
from rexview.errors import NotAdmitted, RexviewError
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.ui.case import case_page
from rexview.ui.curate import study_desk as curate
from rexview.ui.failures import written_sample as validate
from rexview.ui.score_cases import scored_case as score_cases
from rexview.ui.turning.ticket import ADDRESS, KIND
from rexview.ui.web.access import permissions, sign_in
from rexview.ui.web.access.request_checks import NO_STORE_HEADERS
from rexview.ui.web.link.pages import PAGE_CASE, PAGE_CURATE, PAGE_FAILURES, PAGE_SCORE
from rexview.ui.web.server import review_sets, server_state
from rexview.ui.web.server.sealed_tokens import Grant, LinkRefused
from rexview.words import tr

MOST_CASES: Final = 8
"""Most cases in one response."""


class _TurnableCases(Protocol):
    """The cases of one page to turn to, in their order."""

    def position(self, case_id: str) -> Position: ...
    def page(self, start: int, size: int) -> Sequence[str]: ...
    def case_json(self, case_id: str) -> dict[str, Any] | None: ...


_CASES_OF: Final[Mapping[str, Callable[[ReviewSet, Mapping[str, Any]], _TurnableCases | None]]] = {
    PAGE_CASE: case_page.neighbouring_cases,
    PAGE_SCORE: score_cases.neighbouring_scored_cases,
    PAGE_CURATE: curate.neighbouring_studies,
    PAGE_FAILURES: validate.neighbouring_sample_items,
}


class _Changed(RexviewError):
    """The files of the set have changed since the page was shown."""


def _serve_cases(request: Request) -> Response:
    """Send cases after or before one, nearest first."""
    try:
        grant = server_state.signer().check(request.path_params["token"])
        if grant.kind != KIND:
            raise LinkRefused(tr("This link is for something else."))
        who = grant.detail["who"]
        person = sign_in.find_sender(request, grant, Person(*who) if who else None)
        with permissions.acting_as(person):
            if not permissions.may_see(grant.image):
                raise LinkRefused(tr("Your role does not include this page."))
            cases = _cases(grant, request)
    except NotAdmitted as error:
        return _refused(401, str(error))
    except LinkRefused as error:
        return _refused(403, str(error))
    except _Changed as error:
        return _refused(409, str(error))
    except RexviewError:
        return _refused(503, tr("The cases are not available at the moment."))
    return JSONResponse({"cases": cases}, headers=NO_STORE_HEADERS)


def _cases(grant: Grant, request: Request) -> list[dict[str, Any]]:
    folder = review_sets.folder_of(grant.set_id)
    if review_sets.state_to_show(folder) != grant.version:
        raise _Changed(tr("The review set was changed."))
    review_set = review_sets.open_set(folder)
    around = _CASES_OF[grant.image](review_set, grant.detail)
    beside = request.query_params.get("beside", "")
    number = around.position(beside).number if around else None
    if around is None or number is None:
        return []
    if request.query_params.get("direction") == "previous":
        first = max(number - 1 - MOST_CASES, 0)
        ids = list(reversed(around.page(first, number - 1 - first)))
    else:
        ids = list(around.page(number, MOST_CASES))
    task = grant.detail.get("task", "score")
    there = review_sets.with_cases_loaded(review_set, [find_item_case(task, one) for one in ids])
    if there is not review_set:
        around = _CASES_OF[grant.image](there, grant.detail) or around
    return [found for case in ids if (found := around.case_json(case)) is not None]


def _refused(status: int, message: str) -> Response:
    return Response(message, status, media_type="text/plain", headers=NO_STORE_HEADERS)


def routes() -> list[Route]:
    """Return the route; a plain function, so that Starlette runs it in its thread pool."""
    return [Route(f"{server_state.base_path()}/{ADDRESS}/{{token}}", _serve_cases)]
