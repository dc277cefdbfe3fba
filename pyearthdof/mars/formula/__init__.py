"""R's model formulas, evaluated without R."""
