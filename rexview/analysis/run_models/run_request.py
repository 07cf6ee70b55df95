"""A requested run of a model, from a page or a command: its kind, and its plan."""

from __future__ import annotations

import getpass
import json
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Final, Literal

from rexview.addresses import is_address, remote_set_address
from rexview.errors import RunRefused, SettingsError
from rexview.imaging.cache import DiskCache
from rexview.judge.written import find_written_name, is_written
from rexview.models.asking.model_cards import find_card
from rexview.models.asking.prompts import find_prompt
from rexview.models.asking.reply_reader import read_answer
from rexview.models.asking.request_builder import build_request
from rexview.models.asking.token_estimate import input_tokens
from rexview.models.backend import Api, AttemptFailed, Parameters, Price, Prompt
from rexview.models.endpoints.server_addresses import check_base_url
from rexview.models.local.model_files import DEFAULT_NEW_TOKENS
from rexview.models.running.attempts import RunTask
from rexview.models.running.model_run import RunPlan, case_positions, new_plan, plan_resume
from rexview.models.running.run_folder import (
    CURATING_FOLDER,
    JUDGING_FOLDER,
    RUNS_FOLDER,
    RunFolder,
    list_runs,
    new_run_id,
)
from rexview.models.running.run_spec import CaseSelection, RunBudget, RunSpec
from rexview.reviewset import find_image_file
from rexview.reviewset.image_paths import images_folder
from rexview.schema import Case, ReviewSet, StudyImage
from rexview.settings import Settings
from rexview.words import tr

RunCommandName = Literal["run", "curate", "judge", "metrics"]
_VERSION: Final = 12
_DIGEST: Final = re.compile(r"[0-9a-f]{12,64}")


@dataclass(frozen=True)
class RunKind:
    """A kind of run.

    Attributes
    ----------
    name
        Name on screen of the model's task.
    unit
        Noun for the subject of one request, for :func:`rexview.words.counted`.
    command
        Command that starts and resumes it on the command line.
    more
        Arguments of that command besides model and run.
    """

    name: str
    unit: str
    command: RunCommandName
    more: tuple[str, ...] = ()


ANSWER_RUN: Final = RunKind(tr("Answers"), "case", "run")
OPINION_RUN: Final = RunKind(tr("Second opinion"), "answer", "judge")
WRITTEN_FAILURE_RUN: Final = RunKind(tr("Written failure"), "answer", "judge")
CORRECTION_RUN: Final = RunKind(tr("Corrections of reports"), "report", "metrics")
_OTHER_RUN: Final = RunKind(tr("Questions"), "request", "curate")
_CURATING: Final[Mapping[str, RunKind]] = {
    "propose": RunKind(tr("Questions proposed"), "study", "curate"),
    "rate": RunKind(tr("Questions scored"), "question", "curate"),
    "tag": RunKind(tr("Questions tagged"), "question", "curate"),
    "propose-choice": RunKind(tr("Multiple choice questions"), "study", "curate", ("--choice",)),
    "validate-choice": RunKind(tr("Multiple choice checked"), "question", "curate", ("--choice",)),
}
"""Kinds by the name of the prompt, without its number."""
RUN_FOLDERS: Final = (RUNS_FOLDER, CURATING_FOLDER, JUDGING_FOLDER)


def find_run_kind(run: RunFolder, spec: RunSpec) -> RunKind:
    """Return the kind of a run, which follows from its folder and its prompt only."""
    wording = spec.prompt.id.rpartition("-")[0]
    if run.under == JUDGING_FOLDER and is_written(spec.prompt):
        words = f"{find_written_name(spec.prompt)}@{spec.prompt.hash[:_VERSION]}"
        return replace(WRITTEN_FAILURE_RUN, more=(f"--written={words}",))
    if run.under == JUDGING_FOLDER:
        return CORRECTION_RUN if wording == "fineradscore" else OPINION_RUN
    return _CURATING.get(wording, _OTHER_RUN) if run.under == CURATING_FOLDER else ANSWER_RUN


def list_runs_of_set(
    review_set: ReviewSet, folders: tuple[str, ...] = RUN_FOLDERS
) -> list[RunFolder]:
    """Return the runs of a set in some folders, by default of all kinds, newest first."""
    found = chain.from_iterable(list_runs(review_set.folder, under) for under in folders)
    return sorted(found, key=lambda run: run.id, reverse=True)


def describe_subject(subject_id: str) -> tuple[str, str]:
    """Return the case of a request, and a text for the part of the case it is about.

    For other subjects than cases, the id is a list in JSON: the case, the part, and a digest.
    """
    try:
        parts = json.loads(subject_id)
    except (ValueError, RecursionError):
        return subject_id, ""
    if not isinstance(parts, list) or not parts or not isinstance(parts[0], str):
        return subject_id, ""
    more = [part for part in parts[1:] if isinstance(part, str) and not _DIGEST.fullmatch(part)]
    return parts[0], ", ".join(more)


# From a request for a run to its plan.

DEFAULT_CONCURRENCY: Final = 4
MAX_CONCURRENCY: Final = 512


@dataclass(frozen=True)
class RunRequest:
    """A request for a run; None leaves a value to the card, the server, or the resumed run.

    ``cases`` are ids of the set, ``query`` is the link's query they come from. ``resume`` resumes a
    matching run, ``run`` the one of that name.
    """

    model: str | None = None
    api: Api | None = None
    base_url: str | None = None
    prompt: str | None = None
    cases: tuple[str, ...] | None = None
    query: str | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    reasoning_effort: str | None = None
    concurrency: int | None = None
    budget: str | None = None
    repeats: int | None = None
    batch: bool = False
    resume: bool = False
    run: str | None = None


@dataclass(frozen=True)
class RunSubjects:
    """Subjects of a run other than cases: their ids, the prompt, and the folder of such runs."""

    ids: tuple[str, ...]
    prompt: Prompt
    under: str = JUDGING_FOLDER


IN_STORAGE_MESSAGE: Final = tr(
    "Nothing is written into a storage. Copy the set into a folder to run models."
)


def plan_run(
    review_set: ReviewSet, wanted: RunRequest, subjects: RunSubjects | None = None
) -> RunPlan:
    """Return the plan of the run to start or resume; nothing is written or sent.

    Raises
    ------
    RunRefused
        The run is not possible in this way; the message explains what to change.
    """
    if remote_set_address(review_set.folder):
        raise RunRefused(IN_STORAGE_MESSAGE)
    known = case_positions(review_set) if subjects is None else dict.fromkeys(subjects.ids, 0)
    under = subjects.under if subjects else RUNS_FOLDER
    wording = subjects.prompt if subjects else None
    unknown = [case for case in wanted.cases or () if case not in known]
    if unknown:
        shown = ", ".join(unknown[:5]) + ("…" if len(unknown) > 5 else "")
        raise RunRefused(tr("These cases are not in the review set: {shown}").format(shown=shown))
    spec = None if wanted.run else _build_spec(review_set, wanted, tuple(known), wording)
    plan = None
    if wanted.resume or wanted.run:
        cases = wanted.cases
        plan = plan_resume(review_set.folder, spec, wanted.run, known, cases=cases, under=under)
    if plan is None:
        if spec is None:
            raise RunRefused(tr("Choose a model."))
        plan = new_plan(review_set.folder, spec, under)
    spec = replace(
        plan.spec,
        card=replace(plan.spec.card, key_variable=_key_variable(review_set, plan.spec)),
        repeats=wanted.repeats or plan.spec.repeats,
        concurrency=wanted.concurrency or plan.spec.concurrency,
        budget=RunBudget.parse(wanted.budget) if wanted.budget else plan.spec.budget,
    )
    if spec.budget and spec.budget.unit == "USD" and spec.card.price is None:
        raise RunRefused(
            tr(
                "There is no price for {model}, so a budget in USD cannot be enforced: "
                "give one in tokens, or its price in models.yaml of the review set."
            ).format(model=spec.parameters.model)
        )
    if wanted.batch and not spec.batch:
        raise RunRefused(
            f"The run {spec.id} was begun without --batch: leave --batch out, or --resume."
        )
    if spec.batch and spec.parameters.api == "transformers":
        raise RunRefused("Only a server takes batches: leave --batch out.")
    if spec.concurrency > MAX_CONCURRENCY:
        raise RunRefused(
            tr("At most {most_at_once} requests can be under way at once.").format(
                most_at_once=MAX_CONCURRENCY
            )
        )
    return replace(plan, spec=spec)


def _key_variable(review_set: ReviewSet, spec: RunSpec) -> str:
    """Return the variable of the key, from this machine: a run may come from another person."""
    try:
        return find_card(spec.parameters.model, review_set.folder).key_variable
    except (AttemptFailed, SettingsError) as fault:
        raise RunRefused(str(fault)) from None


def _build_spec(
    review_set: ReviewSet, wanted: RunRequest, known: tuple[str, ...], wording: Prompt | None
) -> RunSpec:
    """Return the specification of a new run; without ``wording``, the request names the prompt."""
    if not wanted.model:
        raise RunRefused(tr("Choose a model."))
    declared = next((one for one in review_set.models if one.id == wanted.model), None)
    selected: CaseSelection = (
        "all" if wanted.cases is None else "filter" if wanted.query else "cases"
    )
    now = datetime.now(UTC)
    try:
        card = find_card(wanted.model, review_set.folder, declared)
        prompt = wording or find_prompt(wanted.prompt, card, review_set.folder)
        if wanted.batch and card.price:
            card = replace(card, price=_batch_price(card.price))
        base_url = check_base_url(wanted.base_url).url if wanted.base_url else None
    except (AttemptFailed, SettingsError) as fault:
        raise RunRefused(str(fault)) from None
    api = wanted.api or card.api
    limit = wanted.max_output_tokens
    if limit is None and api == "transformers":  # no server sets a limit
        limit = min(DEFAULT_NEW_TOKENS, card.max_output_tokens or DEFAULT_NEW_TOKENS)
    return RunSpec(
        id=new_run_id(wanted.model, now),
        parameters=Parameters(
            model=wanted.model,
            api=api,
            base_url=base_url,
            max_output_tokens=limit,
            temperature=wanted.temperature,
            seed=wanted.seed,
            reasoning_effort=wanted.reasoning_effort or card.reasoning_effort,
            structured=card.structured,
        ),
        card=card,
        prompt=prompt,
        cases=known if wanted.cases is None else wanted.cases,
        selected=selected,
        query=wanted.query,
        concurrency=DEFAULT_CONCURRENCY,
        batch=wanted.batch,
        set_name=review_set.info.name,
        created=now.isoformat(timespec="seconds"),
        started_by=_current_user(),
    )


def _batch_price(price: Price) -> Price:
    """Return the price by the Batch API: a part of each price, if the card has that part."""
    part = price.batch
    if part is None:
        return replace(price, source=f"in full: the card has no price by batch; {price.source}")
    return replace(
        price,
        input=price.input * part,
        output=price.output * part,
        cached=None if price.cached is None else price.cached * part,
        source=f"{part:.0%} of it by batch; {price.source}",
    )


def _current_user() -> str:
    """Return the person who starts the run, as far as the system knows."""
    try:
        return f"{getpass.getuser()}@{socket.gethostname()}"
    except (OSError, KeyError, ImportError):
        return socket.gethostname()


def build_run_task(
    review_set: ReviewSet, spec: RunSpec, output_tokens: int, settings: Settings
) -> RunTask[Case]:
    """Return the functions that build requests and read answers for the cases of a set.

    Prepared pictures are kept in the cache folder, for repeats and other runs.
    """

    def find_image(image: StudyImage) -> Path:
        return find_image_file(review_set, image.path)

    card, prompt, parameters = spec.card, spec.prompt, spec.parameters
    cache = DiskCache(settings.cache_folder / "images", settings.cache_mb * 1_000_000)
    most = settings.max_megapixels * 1_000_000
    return RunTask(
        case=review_set.case,
        build=lambda case, repeat: build_request(
            *(case, find_image, card, prompt, parameters, repeat), cache=cache, max_pixels=most
        ),
        read=lambda request, reply, case: read_answer(request, reply, case, card),
        input_tokens=lambda request: input_tokens(request, card),
        output_tokens=output_tokens,
    )


def find_pictures_folder(review_set: ReviewSet) -> Path | None:
    """Return the folder for pictures that models return; None if images are at an address."""
    images = review_set.info.images
    return None if is_address(images) else images_folder(review_set.folder, images)
