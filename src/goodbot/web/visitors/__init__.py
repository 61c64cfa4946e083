"""The pages where visitors and owners of sites ask for something: submit, remove, see a copy, ask why."""
