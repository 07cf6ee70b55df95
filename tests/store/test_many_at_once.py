"""Several people write and read one database at the same time, and every reading fits together."""

from concurrent.futures import ThreadPoolExecutor

from rexview.people import Person
from rexview.store import Entry, merge_reviews

PEOPLE = [Person(f"p{number}", f"Person {number}", "lead") for number in range(8)]
EACH = 12


def test_comments_are_read_while_others_comment(reviews, review_set):
    (case, _), *_ = review_set.answers.select("case", "model").rows()

    def comment(person):
        for number in range(EACH):
            name = f"{person.id}-{number}"
            value = {"text": f"Comment {name}", "on": {"what": "case"}, "reply_to": None}
            reviews.record([Entry("comment", case, None, name, value=value)], person)
            assert name in {one.id for one in reviews.comments(case)}
            assert name in set(merge_reviews(review_set, reviews).comments["comment"])

    with ThreadPoolExecutor(len(PEOPLE)) as pool:
        list(pool.map(comment, PEOPLE))
    found = reviews.comments()
    assert len(found) == len(PEOPLE) * EACH
    assert [one.at for one in found] == sorted(one.at for one in found)


def test_comments_of_a_state_are_those_of_that_moment(reviews, review_set):
    (case, _), *_ = review_set.answers.select("case", "model").rows()
    value = {"text": "Before", "on": {"what": "case"}, "reply_to": None}
    reviews.record([Entry("comment", case, None, "k1", value=value)], PEOPLE[0])
    state = reviews.current_state()
    reviews.record([Entry("comment", case, None, "k2", value=value)], PEOPLE[1])
    assert list(state.comments_begun) == ["k1"]
    assert [one.id for one in reviews.comments()] == ["k1", "k2"]
