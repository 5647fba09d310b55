"""How a tool may fail, in one line: what the pocket model learns to pass on word for word.

Of the list every fifth is held out of training (`tool_pieces.trained`).
"""

FAILURES = (
    "the search failed: connection refused; check the address and try again",
    "there is no index at runs/{a}; build one with knowwhen index build",
    "the server answered with status {n}; check the key",
    "no key; set OPENAI_API_KEY",
    "the model {a} cannot be loaded; give a folder that save_pretrained wrote",
    "the prompt has {n} tokens and the model's context only {n}; shorten it or give fewer passages",
    "request timed out after {n} seconds; try again later",
    "the corpus {a} is damaged; build it anew",
    "self_dc needs log-probabilities, which the model does not report; use another confidence",
    "disk full",
    "the network is down",
    "{a} was not reached",
    "too many requests; wait {n} seconds",
    "this retriever has no passages; give another corpus",
    "the server of {a} sent no answer",
    "permission denied: {a}",
    "k must be at least 1 passage, not 0",
    "wikipedia is out of reach; check the network",
    "invalid argument {n}",
    "the question is empty; ask one",
    "something went wrong with {a} and {b}",
    "the quota of this month is used up",
    "the index of {a} was made with another encoder; build it anew",
    "a step of {a} failed after {n} attempts: bad gateway",
    "the file {a}-{n}.jsonl is missing",
    "tavily refused the request (status {n}): quota exceeded",
    "the tool was stopped",
    "there is no tool of this name",
    "out of memory; use a smaller model",
    "no room for an answer: {n} of {n} tokens are used",
)
