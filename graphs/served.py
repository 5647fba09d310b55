"""What a LangGraph server serves (langgraph.json): every method with its defaults, and the agent over them.

The server reads a module's dictionary, so a graph that is built when first asked for would not be found.
"""

import knowwhen.graphs as methods
from knowwhen.graphs.agent import agent as build_agent

direct = methods.direct()
chain_of_thought = methods.chain_of_thought()
generate_then_read = methods.generate_then_read()
retrieve_then_read = methods.retrieve_then_read()
self_dc = methods.self_dc()
keqa = methods.keqa()
seakr = methods.seakr()
taikc = methods.taikc()
agent = build_agent()
