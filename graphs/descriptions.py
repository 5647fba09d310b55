"""What each method is for, as a chat model is told that may call it; langgraph.json repeats it, for MCP."""

DESCRIPTIONS = {
    "direct": "Answers a question from memory in one step; looks nothing up.",
    "chain_of_thought": "Answers a question from memory, reasoning step by step; looks nothing up.",
    "generate_then_read": "Answers a question from memory: writes down what it knows, answers from that.",
    "retrieve_then_read": "Answers a question from passages, looked up once, whether they are needed or not.",
    "self_dc": (
        "Answers a question for one fact about one thing, quickly. Looks up what the model is not sure of, "
        "and divides a question that it is half sure of."
    ),
    "keqa": (
        "Answers a question that compares several things, or for what must hold of several at once. Quizzes "
        "the model on each fact and looks up those that it does not answer alike every time."
    ),
    "seakr": (
        "Answers a question that should be thought through step by step. Looks up the steps that the model "
        "is unsure of."
    ),
    "taikc": (
        "Answers a question whose facts build on one another, such as the birthplace of the director of a "
        "film. Looks up the facts that the model does not say it knows."
    ),
}

AGENT = (
    "Talks about questions: calls a method or a search for each, answers with its sources, and knows what "
    "was said before."
)
