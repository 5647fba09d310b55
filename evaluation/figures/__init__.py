"""What a run comes to: figures of quality, cost and need, their intervals, and what two runs differ by."""
