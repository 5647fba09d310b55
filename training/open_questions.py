"""Questions in words that no world of the almanac has: told apart by their form, and copied all the same.

`{a}` and `{b}` stand for names. Of each list every fifth is held out of training (`tool_pieces.trained`).
"""

ONE_FACT = (
    *("What is {a}?", "Who is {a}?", "Who was {a}?", "How old is {a}?", "How tall is {a}?", "Where is {a}?"),
    *("Why did {a} leave {b}?", "How many people live in {a}?", "What does {a} do?", "What did {a} write?"),
    *("Is {a} a city?", "Was {a} born in 1950?", "When did {a} die?", "What is the population of {a}?"),
    *(
        "What language do they speak in {a}?",
        "How long is {a}?",
        "What colour is {a}?",
        "Does {a} still exist?",
    ),
    *("Can you tell me who {a} was?", "Could you tell me when {a} was founded?", "How far is {a} from {b}?"),
    *("Which river flows through {a}?", "What kind of film is {a}?", "Who painted {a}?", "Who composed {a}?"),
    *(
        "What happened in {a} in 1848?",
        "When did {a} meet {b}?",
        "Has {a} ever won a prize?",
        "Who owns {a}?",
    ),
    *("Who invented the telephone?", "What is the highest mountain?", "How does a steam engine work?"),
    *("Why is the sky blue?", "What is the speed of light?", "How many legs does a spider have?"),
    *(
        "Who sang {a}?",
        "Who married {a}?",
        "In what year did {a} begin?",
        "What is the name of the king of {a}?",
    ),
    *(
        "Name the director of {a}.",
        "Give me the birth year of {a}.",
        "Which company made {a}?",
        "whose is {a}?",
    ),
    *("What is {a} known for?", "How much does {a} weigh?", "Did {a} write {b}?", "Is {a} older than fifty?"),
)
CHAINED = (
    *(
        "How old is the director of {a}?",
        "Where does the mother of {a} live?",
        "Who is the wife of the star of {a}?",
    ),
    *("What is the capital of the country of {a}?", "How many people live in the birthplace of {a}?"),
    *("When did the author of {a} die?", "What is the name of the brother of the founder of {a}?"),
    *("How tall is the coach of {a}?", "Which school did the director of {a} visit?"),
    *("Who is the father of the mayor of {a}?", "Where did the chief of {a} grow up?"),
    *("What did the leader of the country of {a} study?", "Who trained the star of {a}?"),
    *("What is the population of the home city of {a}?", "Who owns the company that made {a}?"),
)
TOGETHER = (
    *("Which is longer, {a} or {b}?", "Who is taller, {a} or {b}?", "Is {a} bigger than {b}?"),
    *("What do {a} and {b} have in common?", "Are {a} and {b} from the same country?"),
    *(
        "Which of {a} and {b} has more inhabitants?",
        "Did {a} and {b} ever meet?",
        "Who knew both {a} and {b}?",
    ),
    *("Which city is farther north, {a} or {b}?", "Did both {a} and {b} win a prize?"),
    *(
        "Who earned more, {a} or {b}?",
        "Which film was longer: {a} or {b}?",
        "Do {a} and {b} know each other?",
    ),
    *("Who wrote {a} and painted {b}?", "Which person sang {a} and also {b}?", "Is {a} older than {b}?"),
)
