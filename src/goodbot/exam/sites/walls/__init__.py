"""Sites behind a bot wall: a challenge page that is sent instead of the page, or of robots.txt."""
