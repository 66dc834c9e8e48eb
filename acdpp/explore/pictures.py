"""The charts of the page, as plain ECharts options."""

from collections.abc import Mapping, Sequence
from typing import Any

from acdpp.explore.planner import Answer, Curve

__all__ = ["curves_chart", "money_chart"]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
BAND_ERRORS = 2  # standard errors to either side
BAND_SHARE_MIN = 1e-3  # of a value, below which its band does not reach
POLYGON = """(params, api) => {
  if (params.dataIndexInside !== 0) return;
  const ends = [[], []];
  for (let k = 0; k < params.dataInsideLength; k++)
    for (const side of [0, 1]) ends[side].push(api.coord([api.value(0, k), api.value(side + 1, k)]));
  const points = ends[0].concat(ends[1].reverse());
  return {type: "polygon", shape: {points}, style: {fill: api.visual("color"), opacity: 0.2}};
}"""  # all points as one, drawn by the chart
INK, LOWER_BOUND = {False: "#333333", True: "#dddddd"}, "lower bound"
LINES = {False: "#e3e5e8", True: "#34373c"}


def curves_chart(answer: Answer, measured: Mapping[str, Sequence[float]], *, dark: bool) -> dict[str, Any]:
    """Predicted excess risk by round, with a band of two standard errors; the lower bound; and measurements."""
    series: list[dict[str, Any]] = []
    for k, (name, curve) in enumerate(answer.curves.items()):
        colour = COLOURS[k % len(COLOURS)]
        kind = "solid" if curve.exact else "dotted"
        series += [_line(name, _points(curve), colour, kind, 2), *_band(name, curve, colour)]
        if values := measured.get(name):
            shown = [[t, values[t - 1]] for t in curve.rounds if t <= len(values)]
            series.append(_line(f"{name}, measured", shown, colour, "solid", 5) | {"opacity": 0.5})
            series[-1]["lineStyle"]["opacity"] = 0.4
    series.append(_line(LOWER_BOUND, _points(answer.lower_bound), INK[dark], "dashed", 1))
    return _chart(series, "round", "excess risk", dark=dark)


def money_chart(answer: Answer, *, dark: bool) -> dict[str, Any]:
    """Samples per round by budget: of constant admission, and at most of any policy."""
    rows = answer.frontier
    series = [
        _line("constant admission", [[one.budget, one.rate] for one in rows], COLOURS[0], "solid", 2),
        _line("at most, any policy", [[one.budget, one.most] for one in rows], INK[dark], "dashed", 1),
    ]
    here = {"symbol": "none", "lineStyle": {"color": INK[dark]}, "label": {"show": False}, "silent": True}
    series[0]["markLine"] = here | {"data": [{"xAxis": answer.money.budget}]}
    return _chart(series, "budget", "samples per round", dark=dark)


def _points(curve: Curve) -> list[list[float]]:
    return [[t, value] for t, value in zip(curve.rounds, curve.risk, strict=True) if value > 0]


def _line(name: str, points: list[list[float]], colour: str, kind: str, width: int) -> dict[str, Any]:
    style = {"color": colour, "type": kind, "width": width}
    line = {"name": name, "type": "line", "data": points, "showSymbol": False, "animation": False}
    return line | {"lineStyle": style, "itemStyle": {"color": colour}}


def _band(name: str, curve: Curve, colour: str) -> list[dict[str, Any]]:
    """Two standard errors to either side, as one polygon: a logarithmic axis has no stacked areas."""
    if curve.error is None:
        return []
    ends = [
        [t, max(value - BAND_ERRORS * error, value * BAND_SHARE_MIN), value + BAND_ERRORS * error]
        for t, value, error in zip(curve.rounds, curve.risk, curve.error, strict=True)
        if value > 0
    ]
    band = {"name": name, "type": "custom", "data": ends, ":renderItem": POLYGON, "animation": False}
    band |= {"itemStyle": {"color": colour, "opacity": 0.2}, "encode": {"x": 0, "y": [1, 2]}}
    return [band | {"silent": True, "clip": True, "tooltip": {"show": False}, "z": 1}]


def _chart(series: list[dict[str, Any]], x: str, y: str, *, dark: bool) -> dict[str, Any]:
    ink = INK[dark]
    axis = {"type": "log", "nameLocation": "middle", "axisLabel": {"color": ink}}
    axis |= {"splitLine": {"lineStyle": {"color": LINES[dark]}}}
    axis |= {"axisLine": {"lineStyle": {"color": ink}}, "nameTextStyle": {"color": ink}}
    return {
        "backgroundColor": "transparent",
        "animation": False,
        "grid": {"left": 70, "right": 24, "top": 16, "bottom": 76},
        "legend": {
            "bottom": 0,
            "type": "scroll",
            "icon": "rect",
            "itemHeight": 3,
            "data": list(dict.fromkeys(one["name"] for one in series)),
            "textStyle": {"color": ink},
        },
        "tooltip": {"trigger": "axis"},
        "xAxis": axis | {"name": x, "nameGap": 25, "min": "dataMin", "max": "dataMax"},
        "yAxis": axis | {"name": y, "nameGap": 50},
        "series": series,
        "aria": {"enabled": True},
    }
