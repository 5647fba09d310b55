"""The page of `knowwhen ui`: ask, see the tree grow, move a threshold, compare, look at an evaluation."""
