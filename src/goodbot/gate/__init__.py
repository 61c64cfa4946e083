"""Enforces robots.txt at a Web server: decides for each request whether it is allowed, refused or too fast.

A Web server asks the gate before it answers a request (nginx `auth_request`, forward authentication of Caddy and
Traefik, a RewriteMap of Apache).
"""
