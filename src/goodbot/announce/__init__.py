"""Announces changed pages of a site to search services by IndexNow (https://www.indexnow.org/documentation).

Receives its transport and its clock from the caller. `web/visitors/indexnow` is the other side: it takes announcements.
"""
