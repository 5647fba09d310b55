"""A method as a tool of a chat agent: it takes a question and hands back the answer and its sources.

from knowwhen import as_tool, self_dc

agent = create_agent(model, [as_tool(self_dc())])
"""

from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import StructuredTool, ToolException
from pydantic import BaseModel, Field, StringConstraints

from knowwhen.models.errors import KnowwhenError, SettingsError
from knowwhen.models.faults import shortened
from knowwhen.tools.passage import name_of
from knowwhen.tools.tool_content import answer_content, looked_up
from knowwhen.tools.tool_errors import told, told_of_arguments
from knowwhen.tools.tool_name import checked_name, own_name

DESCRIPTION = (
    "Answers a question, and looks up what the language model does not know. Returns the answer and, on the "
    "last line, the titles of the sources that were read."
)
# What a graph's own `invoke` allows. As a tool it would have its agent's limit, or 25 steps.
RECURSION_LIMIT = 10_007


class QuestionArguments(BaseModel):
    """What a method is asked."""

    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)] = Field(
        description="The question in full, understandable by itself: names in place of words such as 'it'",
    )


def as_tool(
    method: Runnable[Any, Any], *, name: str | None = None, description: str = DESCRIPTION
) -> StructuredTool:
    """Make a tool of a method, or of any runnable made from one.

    The tool's content is the answer and, on a second line, its sources: short, for small chat models. Its
    artifact is the method's whole output. What the method refuses or cannot do (any `KnowwhenError`) becomes
    a message of status "error" that says what is wrong and what to do; other errors are raised.

    Args:
        method: takes {"question": …} and gives an `Answer`.
        name: what the model calls it by: letters, digits, `_` and `-`. None: the method's own, also through
            `bind`, `with_retry` and `with_fallbacks`; a pipe has none.
        description: tells the model what it is for.

    Raises:
        SettingsError: there is no name, or none that a model could call.
    """

    def ask(question: str) -> tuple[str, Any]:
        try:
            output = method.invoke({"question": question}, _limit())
        except KnowwhenError as error:
            raise ToolException(str(error)) from error
        return _content(output), output

    async def aask(question: str) -> tuple[str, Any]:
        try:
            output = await method.ainvoke({"question": question}, _limit())
        except KnowwhenError as error:
            raise ToolException(str(error)) from error
        return _content(output), output

    return StructuredTool.from_function(
        ask,
        aask,
        name=checked_name(name or own_name(method)),
        description=description,
        args_schema=QuestionArguments,
        response_format="content_and_artifact",
        handle_tool_error=told,
        handle_validation_error=told_of_arguments(QuestionArguments),
    )


def _limit() -> RunnableConfig:
    return {"recursion_limit": RECURSION_LIMIT}


def _content(output: Any) -> str:
    if not isinstance(output, Mapping) or not {"answer", "steps"} <= output.keys():
        raise SettingsError(
            "a tool needs a runnable that gives the whole output of a method, its 'answer' and its 'steps'; "
            f"this one gave {shortened(repr(output))}"
        )
    return answer_content(output["answer"], map(name_of, looked_up(output["steps"])))
