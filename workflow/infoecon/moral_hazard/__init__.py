"""Study 1, moral hazard: pay a query cost so that someone else decides safely."""
