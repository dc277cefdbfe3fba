"""The fitted model and its JSON file."""
