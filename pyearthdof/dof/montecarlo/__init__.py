"""Monte Carlo studies: draws, designs, blocks of fits, workers, errors."""
