"""The page without a browser: its fields are the form, and it draws the answer and the training that it has."""

from dataclasses import replace
from unittest.mock import Mock

import pytest

from acdpp.explore.form import first_form
from acdpp.explore.words import figures, money_said, rows, summary
from tests.acdpp.explore.test_planner import answers, asked
from tests.empirics.small import until

nicegui = pytest.importorskip("nicegui")
FIRST = "buy-cheap-online"


@pytest.fixture
def client():
    from nicegui.page import page

    with nicegui.Client(page("/"), request=None) as made:
        yield made


def test_fields_are_the_form_they_show_and_keep_what_is_chosen(client, tmp_path):
    from acdpp.explore.fields import Fields

    told = []
    fields = Fields(first_form(), tmp_path, lambda: told.append(fields.form()))
    made = fields.made
    assert (fields.form(), told) == (first_form(), [])
    for name, heading in (
        ("mine", "a,b,Target"),
        ("other", "b,y"),
        ("prices", "day,price"),
        ("one", "price"),
    ):
        (tmp_path / f"{name}.csv").write_text(f"{heading}\n")
    fields.lying["csv:mine.csv"] = f"csv:{tmp_path}/mine.csv"  # as if it had been dropped
    assert [made[name].visible for name in ("label", "time", "fit", "price_column")] == [False] * 4
    made["data"].value = "csv:mine.csv"
    assert (told[-1].data, told[-1].label, told[-1].time) == (f"csv:{tmp_path}/mine.csv", "Target", "")
    assert [made[name].visible for name in ("label", "time", "fit")] == [True] * 3
    made["label"].value = "b"
    made["data"].value = f"csv:{tmp_path}/other.csv"
    assert (len(told), told[-1].label) == (3, "b")  # though y is the likely one
    for name, shown, column in (("prices.csv", True, "price"), ("one.csv", False, "")):
        made["price_file"].value = str(tmp_path / name)
        assert (made["price_column"].visible, made["prices"].enabled) == (shown, False)
        assert told[-1].price_column == column
    made["data"].value = "csv:mine.csv"
    other = replace(told[-1], label="a", policies="constant", rounds="7", price_file="")
    fields.put(other)
    assert (fields.form(), told[-1], len(told)) == (other, other, 7)
    assert [made[name].value for name in ("data", "policies")] == ["csv:mine.csv", ["constant"]]
    assert made["prices"].enabled
    assert fields.names == {f"{tmp_path}/mine.csv": "mine.csv"}
    fields.blame({"data": f"{tmp_path}/mine.csv is odd"})
    assert {name: one.error for name, one in made.items() if one.error} == {"data": "mine.csv is odd"}
    for budget, ends in ((60.0, (1, 550, 1)), (5600.0, (100, 56_000, 100))):
        fields.slide_to(budget)
        assert (fields.slider.value, *map(fields.slider.props.get, ("min", "max", "step"))) == (budget, *ends)


def test_the_page_draws_its_answer_and_a_training_of_the_same_study(client, tmp_path):
    from acdpp.explore.page import Page

    last = replace(answers()[-1], chosen="by a pilot", unfound="nothing")
    page = Page(Mock(answers=lambda *_, **__: iter([*answers()[:-1], last])), tmp_path)
    until(lambda: page.asking.answer is last, 20)
    page.asked = asked()

    def made(kind):
        return [one for one in client.elements.values() if isinstance(one, kind)]

    def shown():
        made(nicegui.ui.timer)[0].callback()
        drawn = [one["name"] for one in page.chart.options["series"]]
        return drawn, " ".join(one.content for one in made(nicegui.ui.html))

    drawn, html = shown()
    assert drawn == [FIRST, FIRST, "constant", "lower bound"]
    texts = (page.short.text, page.status.text, page.bought.text, page.searching.text)
    assert texts == (summary(last), "predicted in full", money_said(last), "nothing")
    assert page.fields.chosen.text == "by a pilot"
    for one in figures(last):
        assert f"<dt>{one.name}</dt><dd>{one.number}</dd>" in html
    for name, does, *numbers in rows(last):
        cells = "".join(f'<td class="number">{number}</td>' for number in numbers)
        assert f'<th scope="row">{name}</th>{cells}</tr><tr class="does"><td colspan="4">{does}</td>' in html
    assert html.index(">samples per round<") < html.index(">over all rounds<") < html.index(">at the end<")
    curves = Mock(means={"constant": [0.5, 0.25, 0.125]})
    own = {"curves": curves, "done": 3, "said": "round 3", "running": True, "summary": None, "folder": "a b"}
    page.training = Mock(study=last.study, news=1, **own)
    assert shown()[0] == [FIRST, FIRST, "constant", "constant, measured", "lower bound"]
    assert (page.starting.text, page.trained.text) == ("Stop the training", "round 3")
    assert page.progress.value == 0.25
    own |= {"running": False, "summary": {}}
    page.training = Mock(study=replace(last.study, seed=9), news=2, **own)
    drawn, html = shown()
    assert (drawn[-2:], page.starting.text) == (["constant", "lower bound"], "Start the training")
    assert f"<pre>acdpp export &#x27;a b&#x27; --policy {FIRST} --out model.pt</pre>" in html
    page.asking.refused = ("budget", "too little")
    page.asking.news += 1
    shown()
    assert (page.fields.made["budget"].error, page.status.text) == ("too little", "see the field in red")
    page.fields.made["rounds"].value = "many"
    assert (page.asked, page.status.text) == (None, "see the fields in red")
    assert [name for name, one in page.fields.made.items() if one.error] == ["rounds"]
