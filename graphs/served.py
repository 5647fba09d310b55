"""What a LangGraph server serves (langgraph.json): every method with its defaults, built when this is loaded.

The server reads a module's dictionary, so a graph that is built when first asked for would not be found.
"""

import knowwhen.graphs as methods

direct = methods.direct()
chain_of_thought = methods.chain_of_thought()
generate_then_read = methods.generate_then_read()
retrieve_then_read = methods.retrieve_then_read()
self_dc = methods.self_dc()
keqa = methods.keqa()
seakr = methods.seakr()
taikc = methods.taikc()
