"""Every page: its file, address, title, roles, and place in the navigation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rexview.people import Role
from rexview.words import tr

PAGE_OVERVIEW: Final = "pages/overview.py"
PAGE_BROWSE: Final = "pages/browse.py"
PAGE_CASE: Final = "pages/case.py"
PAGE_FAILURES: Final = "pages/failures.py"
PAGE_SCORES: Final = "pages/scores.py"
PAGE_READERS: Final = "pages/readers.py"
PAGE_MULTIPLE_CHOICE: Final = "pages/multiple_choice.py"
PAGE_REPORT_GENERATION: Final = "pages/report_generation.py"
PAGE_SCORE: Final = "pages/score.py"
PAGE_STUDY: Final = "pages/study.py"
PAGE_ADJUDICATE: Final = "pages/adjudicate.py"
PAGE_MEETING: Final = "pages/meeting.py"
PAGE_RUN_MODELS: Final = "pages/run_models.py"
PAGE_CURATE: Final = "pages/curate.py"
PAGE_DATA: Final = "pages/data.py"
PAGE_GUIDE: Final = "pages/guide.py"
PAGE_ACCOUNT: Final = "pages/account.py"

_RESULTS: Final = tr("Results")
_SCORING: Final = tr("Scoring and meetings")
_DATA: Final = tr("Data and models")
_ALL: Final = frozenset[Role]({"reader", "adjudicator", "lead", "viewer"})
_NOT_BLINDED: Final = _ALL - {"reader"}
_LEAD: Final = frozenset[Role]({"lead"})
_ADJUDICATORS: Final = frozenset[Role]({"adjudicator", "lead"})


@dataclass(frozen=True)
class Page:
    """A page of the app: ``address`` is relative to the app, and empty for the first page.

    ``title`` is shown in the navigation; the account page has the person's name there instead.
    Pages of one ``group`` open under its name; pages without one are listed before the groups.
    """

    file: str
    address: str
    title: str
    seen_by: frozenset[Role]
    group: str = ""


PAGES: Final = (
    Page(PAGE_OVERVIEW, "", tr("Overview"), _NOT_BLINDED),
    Page(PAGE_BROWSE, "browse", tr("Browse"), _NOT_BLINDED),
    Page(PAGE_CASE, "case", tr("Case"), _NOT_BLINDED),
    Page(PAGE_FAILURES, "failures", tr("Failures"), _NOT_BLINDED, _RESULTS),
    Page(PAGE_SCORES, "scores", tr("Scores"), _NOT_BLINDED, _RESULTS),
    Page(PAGE_READERS, "readers", tr("Readers"), _NOT_BLINDED, _RESULTS),
    Page(PAGE_MULTIPLE_CHOICE, "choices", tr("Multiple choice"), _NOT_BLINDED, _RESULTS),
    Page(PAGE_REPORT_GENERATION, "reports", tr("Report generation"), _NOT_BLINDED, _RESULTS),
    Page(PAGE_SCORE, "score", tr("Score cases"), _ALL - {"viewer"}, _SCORING),
    Page(PAGE_STUDY, "study", tr("Study"), _NOT_BLINDED, _SCORING),
    Page(PAGE_ADJUDICATE, "adjudicate", tr("Adjudicate"), _ADJUDICATORS, _SCORING),
    Page(PAGE_MEETING, "meeting", tr("Meeting"), _NOT_BLINDED, _SCORING),
    Page(PAGE_RUN_MODELS, "run", tr("Run models"), _LEAD, _DATA),
    Page(PAGE_CURATE, "curate", tr("Curate"), _ADJUDICATORS, _DATA),
    Page(PAGE_DATA, "data", tr("Data"), _LEAD, _DATA),
    Page(PAGE_GUIDE, "guide", tr("Guide"), _ALL),
    Page(PAGE_ACCOUNT, "account", tr("You"), _ALL),
)
"""In the order of the navigation."""
ADDRESSES: Final = {page.file: page.address for page in PAGES}
_SEEN_BY: Final = {page.file: page.seen_by for page in PAGES}


def roles_of_page(file: str) -> frozenset[Role]:
    """Return the roles that see a page: a page not listed here is for the lead only."""
    return _SEEN_BY.get(file, _LEAD)
