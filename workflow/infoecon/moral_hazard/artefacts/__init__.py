"""One module per table or figure of the moral-hazard paper, so that each is rendered on its own."""
