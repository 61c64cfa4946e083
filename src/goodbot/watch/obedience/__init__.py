"""Judges the requests of a log by the robots.txt that was in force at their time."""
