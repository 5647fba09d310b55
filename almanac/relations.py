"""What can be said of whom: every relation with its statements and its questions.

A relation joins a subject of one kind to an object of another. Its statements are the sentences that
passages are made of, its questions the ways to ask for the object: each as a direct question and as a
clause that follows "Tell me". A statement tells the relation before it names the object: the pocket model,
which is small and reads from left to right, hardly learns to look back for it. `phrase` names the object
through its subject, so that questions nest: "When was {the director of Brask Ulmen} born?". Objects of a
changing relation are replaced in time.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Relation:
    """One relation; `{s}` stands for the subject, `{o}` for the object, `{y}` for the year since which."""

    name: str
    subject: str
    object: str
    phrase: str
    statements: tuple[str, ...]
    questions: tuple[tuple[str, str], ...]
    inverse: str = ""  # what the object's own passage says of the subject; empty: nothing
    changes: bool = False


RELATIONS: tuple[Relation, ...] = (
    Relation(
        "director",
        "film",
        "person",
        "the director of {s}",
        (
            "{s} was directed by {o}.",
            "The director {o} made {s}.",
            "The director of {s} was {o}.",
            "The film {s} was made by the director {o}.",
        ),
        (
            ("Who directed {s}?", "who directed {s}"),
            ("Who was the director of {s}?", "who the director of {s} was"),
            ("Which person directed {s}?", "which person directed {s}"),
        ),
        inverse="{o} directed {s}.",
    ),
    Relation(
        "release",
        "film",
        "year",
        "the release year of {s}",
        (
            "{s} was released in {o}.",
            "{s} came out in {o}.",
            "The film {s} was first shown in {o}.",
            "The release of {s} was in {o}.",
        ),
        (
            ("When was {s} released?", "when {s} was released"),
            ("When did {s} come out?", "when {s} came out"),
            ("In which year was {s} released?", "in which year {s} was released"),
        ),
    ),
    Relation(
        "star",
        "film",
        "person",
        "the star of {s}",
        (
            "The star {o} played in {s}.",
            "{s} starred {o}.",
            "The leading role in {s} was played by {o}.",
            "The star of {s} was {o}.",
        ),
        (
            ("Who starred in {s}?", "who starred in {s}"),
            ("Who was the star of {s}?", "who the star of {s} was"),
            ("Who played the leading role in {s}?", "who played the leading role in {s}"),
        ),
        inverse="{o} starred in {s}.",
    ),
    Relation(
        "author",
        "book",
        "person",
        "the author of {s}",
        (
            "{s} was written by {o}.",
            "The author {o} wrote {s}.",
            "The author of {s} was {o}.",
            "The book {s} is a work of {o}.",
        ),
        (
            ("Who wrote {s}?", "who wrote {s}"),
            ("Who was the author of {s}?", "who the author of {s} was"),
            ("Which person wrote {s}?", "which person wrote {s}"),
        ),
        inverse="{o} wrote {s}.",
    ),
    Relation(
        "publication",
        "book",
        "year",
        "the publication year of {s}",
        (
            "{s} was published in {o}.",
            "{s} appeared in print in {o}.",
            "The book {s} was first published in {o}.",
            "The publication of {s} was in {o}.",
        ),
        (
            ("When was {s} published?", "when {s} was published"),
            ("When did {s} appear in print?", "when {s} appeared in print"),
            ("In which year was {s} published?", "in which year {s} was published"),
        ),
    ),
    Relation(
        "birth",
        "person",
        "year",
        "the birth year of {s}",
        (
            "{s} was born in {o}.",
            "{s} came into the world in {o}.",
            "The birth of {s} was in {o}.",
            "{s} saw the light of day in {o}.",
        ),
        (
            ("When was {s} born?", "when {s} was born"),
            ("In which year was {s} born?", "in which year {s} was born"),
            ("What is the birth year of {s}?", "what the birth year of {s} is"),
        ),
    ),
    Relation(
        "birthplace",
        "person",
        "city",
        "the birthplace of {s}",
        (
            "{s} was born in the city of {o}.",
            "{s} came from {o}.",
            "The birthplace of {s} was {o}.",
            "{s} is a native of {o}.",
        ),
        (
            ("In which city was {s} born?", "in which city {s} was born"),
            ("What is the birthplace of {s}?", "what the birthplace of {s} is"),
            ("Where was {s} born?", "where {s} was born"),
        ),
    ),
    Relation(
        "award",
        "person",
        "award",
        "the award of {s}",
        (
            "{s} won the {o}.",
            "{s} was given the {o}.",
            "{s} was honoured with the {o}.",
            "The award of {s} was the {o}.",
        ),
        (
            ("Which award did {s} win?", "which award {s} won"),
            ("Which award was {s} given?", "which award {s} was given"),
            ("What award went to {s}?", "what award went to {s}"),
        ),
        inverse="{s} won the {o}.",
    ),
    Relation(
        "country",
        "city",
        "country",
        "the country of {s}",
        (
            "{s} is a city in {o}.",
            "{s} lies in {o}.",
            "The city of {s} is part of {o}.",
            "The country of {s} is {o}.",
        ),
        (
            ("In which country is {s}?", "in which country {s} is"),
            ("Which country is {s} in?", "which country {s} is in"),
            ("What is the country of {s}?", "what the country of {s} is"),
        ),
    ),
    Relation(
        "mayor",
        "city",
        "person",
        "the mayor of {s}",
        (
            "The mayor of {s} is {o}.",
            "Mayor {o} governs {s}.",
            "Since {y}, the mayor of {s} has been {o}.",
            "{s} has been governed by its mayor {o} since {y}.",
        ),
        (
            ("Who is the mayor of {s}?", "who the mayor of {s} is"),
            ("Which person is the mayor of {s}?", "which person is the mayor of {s}"),
            ("Who governs {s} as mayor?", "who governs {s} as mayor"),
        ),
        inverse="{o} is the mayor of {s}.",
        changes=True,
    ),
    Relation(
        "capital",
        "country",
        "city",
        "the capital of {s}",
        (
            "The capital of {s} is {o}.",
            "The capital city of {s} is {o}.",
            "{s} has its capital in {o}.",
            "{s} is governed from its capital {o}.",
        ),
        (
            ("What is the capital of {s}?", "what the capital of {s} is"),
            ("Which city is the capital of {s}?", "which city is the capital of {s}"),
            ("What city is {s} governed from?", "what city {s} is governed from"),
        ),
        inverse="{o} is the capital of {s}.",
    ),
    Relation(
        "leader",
        "country",
        "person",
        "the leader of {s}",
        (
            "The leader of {s} is {o}.",
            "The leader {o} governs {s}.",
            "Since {y}, the leader of {s} has been {o}.",
            "{s} has been led by {o} since {y}.",
        ),
        (
            ("Who is the leader of {s}?", "who the leader of {s} is"),
            ("Who leads {s}?", "who leads {s}"),
            ("Which person leads {s}?", "which person leads {s}"),
        ),
        inverse="{o} is the leader of {s}.",
        changes=True,
    ),
    Relation(
        "founder",
        "company",
        "person",
        "the founder of {s}",
        (
            "{s} was founded by {o}.",
            "The founder {o} started {s}.",
            "The founder of {s} was {o}.",
            "The company {s} was started by {o}.",
        ),
        (
            ("Who founded {s}?", "who founded {s}"),
            ("Who was the founder of {s}?", "who the founder of {s} was"),
            ("Which person founded {s}?", "which person founded {s}"),
        ),
        inverse="{o} founded {s}.",
    ),
    Relation(
        "founding",
        "company",
        "year",
        "the founding year of {s}",
        (
            "{s} was founded in {o}.",
            "{s} began its work in {o}.",
            "The company {s} was started in {o}.",
            "The founding of {s} was in {o}.",
        ),
        (
            ("When was {s} founded?", "when {s} was founded"),
            ("When was {s} started?", "when {s} was started"),
            ("In which year was {s} founded?", "in which year {s} was founded"),
        ),
    ),
    Relation(
        "headquarters",
        "company",
        "city",
        "the home city of {s}",
        (
            "{s} is based in {o}.",
            "{s} has its headquarters in {o}.",
            "The headquarters of {s} are in {o}.",
            "The company {s} works from {o}.",
        ),
        (
            ("In which city is {s} based?", "in which city {s} is based"),
            ("Where is {s} based?", "where {s} is based"),
            ("Where are the headquarters of {s}?", "where the headquarters of {s} are"),
        ),
    ),
    Relation(
        "chief",
        "company",
        "person",
        "the chief of {s}",
        (
            "The chief of {s} is {o}.",
            "The chief {o} heads {s}.",
            "Since {y}, the chief of {s} has been {o}.",
            "{s} has been headed by {o} since {y}.",
        ),
        (
            ("Who is the chief of {s}?", "who the chief of {s} is"),
            ("Who heads {s}?", "who heads {s}"),
            ("Which person heads {s}?", "which person heads {s}"),
        ),
        inverse="{o} is the chief of {s}.",
        changes=True,
    ),
    Relation(
        "home",
        "team",
        "city",
        "the home town of {s}",
        (
            "{s} play in {o}.",
            "The team {s} comes from {o}.",
            "The home of {s} is {o}.",
            "{s} have their home in {o}.",
        ),
        (
            ("In which city do {s} play?", "in which city {s} play"),
            ("Where do {s} play?", "where {s} play"),
            ("What is the home of {s}?", "what the home of {s} is"),
        ),
    ),
    Relation(
        "coach",
        "team",
        "person",
        "the coach of {s}",
        (
            "The coach of {s} is {o}.",
            "The coach {o} trains {s}.",
            "Since {y}, the coach of {s} has been {o}.",
            "{s} have been trained by {o} since {y}.",
        ),
        (
            ("Who is the coach of {s}?", "who the coach of {s} is"),
            ("Who trains {s}?", "who trains {s}"),
            ("Which person trains {s}?", "which person trains {s}"),
        ),
        inverse="{o} is the coach of {s}.",
        changes=True,
    ),
)

BY_NAME = {relation.name: relation for relation in RELATIONS}
FRAMES = ("Tell me {}.", "Do you know {}?", "I want to know {}.", "Please say {}.")


def relations_of(kind: str) -> tuple[Relation, ...]:
    """The relations whose subject is of this kind, in the order of `RELATIONS`."""
    return tuple(relation for relation in RELATIONS if relation.subject == kind)
