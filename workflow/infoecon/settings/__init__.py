"""The pipeline's configuration, one pydantic model per section; unknown keys are errors."""
