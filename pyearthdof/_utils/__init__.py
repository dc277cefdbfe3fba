"""Input checks, files, HTML, progress bars and warnings, for the whole package."""
