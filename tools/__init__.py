"""What a graph or an agent calls: retrievers, the indexes behind them, web search."""
