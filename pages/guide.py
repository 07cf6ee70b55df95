"""Guide: how to use the app, for a clinician, a reader, a lead, a researcher."""

from rexview.ui.guide import guides
from rexview.ui.guide import guides as guide_widgets
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import page_header
from rexview.ui.web.link.pages import PAGE_GUIDE
from rexview.words import tr

permissions.guard(PAGE_GUIDE)
page_header(tr("Guide"))
chosen = guide_widgets.choose_guide()
guides.show_tour_restart()
guide_widgets.show_guide(chosen)
