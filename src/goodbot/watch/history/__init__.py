"""Keeps dated copies of robots.txt files, and says which verdicts changed between them."""
