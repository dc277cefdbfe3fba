"""A fitted model as one HTML page that needs nothing beside it: `page` puts it together."""
