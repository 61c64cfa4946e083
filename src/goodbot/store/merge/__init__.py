"""Rules that every frontier follows: how links and outcomes change what is known of a URL. Pure."""
