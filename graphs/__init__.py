"""One method, one file, one compiled graph."""

from knowwhen.graphs.chain_of_thought import chain_of_thought
from knowwhen.graphs.direct import direct
from knowwhen.graphs.generate_then_read import generate_then_read
from knowwhen.graphs.keqa import keqa
from knowwhen.graphs.method import Method
from knowwhen.graphs.retrieve_then_read import retrieve_then_read
from knowwhen.graphs.seakr import seakr
from knowwhen.graphs.self_dc import self_dc
from knowwhen.graphs.taikc import taikc

METHODS = {
    "direct": direct,
    "chain_of_thought": chain_of_thought,
    "generate_then_read": generate_then_read,
    "retrieve_then_read": retrieve_then_read,
    "self_dc": self_dc,
    "keqa": keqa,
    "seakr": seakr,
    "taikc": taikc,
}

__all__ = [
    "METHODS",
    "Method",
    "chain_of_thought",
    "direct",
    "generate_then_read",
    "keqa",
    "retrieve_then_read",
    "seakr",
    "self_dc",
    "taikc",
]
