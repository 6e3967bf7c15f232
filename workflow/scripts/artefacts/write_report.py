from infoecon.jobs import job
