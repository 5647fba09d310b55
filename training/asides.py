"""What people say to a chat agent that is no question, and what the pocket model learns to say back."""

GREETED = "Hello. What would you like to know?"
THANKED = "You are welcome. What else would you like to know?"
WHICH = "Which question do you mean? Please ask it in full."
ABOUT = "What would you like to know about {name}?"

# Of each list every fifth is held out of training (`tool_pieces.trained`).
GREETINGS = (
    *(
        "hello",
        "Hi",
        "Hello!",
        "Hey",
        "Good morning",
        "Hi there!",
        "Hello there",
        "Good evening.",
        "hey there",
    ),
    *("Hello, how are you?", "Good day", "hi!", "Hello, my friend.", "Greetings", "Hi, how is it going?"),
    *(
        "good afternoon",
        "Hello, I am new here.",
        "Howdy",
        "Hello again",
        "hello hello",
        "Hi, nice to meet you.",
    ),
    *("Good morning!", "Hey you", "HELLO", "hi all", "Yo", "Hello, can you help me?", "How are you?"),
)
THANKS = (
    *("thanks", "Thank you.", "Thank you!", "Thanks a lot", "thank you very much", "Great, thanks.", "Thx"),
    *(
        "Thanks, that helps.",
        "Very good, thank you.",
        "Many thanks!",
        "Wonderful, thank you.",
        "Thanks again",
    ),
    *("ok thanks", "Perfect, thanks!", "That is all, thank you.", "Cool, thanks", "Good, thank you"),
    *("Thanks so much.", "thank you for your help", "Nice, thanks!"),
)
STATEMENTS = (
    *(
        "ok",
        "test",
        "Yes",
        "No",
        "Well",
        "I see.",
        "Interesting.",
        "That is wrong.",
        "Hmm",
        "and",
        "the",
        "...",
    ),
    *(
        "I like cheese.",
        "The weather is nice today.",
        "My dog is asleep.",
        "I have a question.",
        "Answer me.",
    ),
    *(
        "I do not know.",
        "You are a machine.",
        "This is a test.",
        "foo",
        "foo bar",
        "lorem ipsum",
        "abc",
        "123",
    ),
    *("It is raining.", "I am tired", "Nothing", "A question.", "Let us talk.", "Please help me.", "help"),
    *(
        "I want to ask something.",
        "You are wrong",
        "Not that one.",
        "The other one.",
        "Tell me more.",
        "Go on.",
    ),
    *(
        "My name is Anna.",
        "I was born in 1980.",
        "We went to the sea last summer.",
        "What a nice day!",
        "Really?",
    ),
    *("I love music and old films.", "Books are better than films.", "Just looking around.", "?", "???", "!"),
    *(
        "She is my sister.",
        "He told me so.",
        "They live in a big house.",
        "Ask me something.",
        "Surprise me.",
    ),
    *(
        "Films",
        "books and companies",
        "My favourite city",
        "a person",
        "Some film",
        "Do it.",
        "Say something",
    ),
    *(
        "I am looking for something.",
        "That was not my question.",
        "You did not understand me.",
        "Stop.",
        "Wait",
    ),
    *("Two times two.", "Roses are red, violets are blue.", "The quick brown fox jumps over the lazy dog."),
    *(
        "I think it was a good film.",
        "Nobody knows.",
        "We shall see.",
        "Never mind.",
        "Forget it.",
        "So what",
    ),
)
ABOUT_SOMEBODY = (
    *(
        "I like {name}.",
        "I have heard of {name}.",
        "{name} is great.",
        "My friend knows {name}.",
        "{name} again",
    ),
    *(
        "I do not believe {name}.",
        "We talked about {name} yesterday.",
        "{name} is wonderful!",
        "Poor {name}.",
    ),
    *(
        "I saw {name} and {other}.",
        "{name} and {other}",
        "I prefer {name} to {other}.",
        "Not {name} but {other}",
    ),
)
UNFINISHED = (
    *("Who directed", "Who directed?", "When was", "When was born?", "Which film", "Who", "What?", "Where?"),
    *(
        "Who wrote?",
        "In which city",
        "Tell me",
        "Do you know",
        "Which of them",
        "Why?",
        "How?",
        "When",
        "Who is?",
    ),
    *("Who was the director of?", "Where is", "Who founded", "What is the capital of?", "Which is older?"),
)
