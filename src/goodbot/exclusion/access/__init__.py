"""What came of fetching robots.txt, and which rules hold until when."""
