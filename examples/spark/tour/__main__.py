"""Runs the whole tour, in one session: python tour URL"""

import sys

import evolution
import formats
import maintenance
import mounts
import namespaces
import purge
import snapshots
import tables
import views
from session import Tour

tour = Tour(sys.argv[1])
for part in (namespaces, tables, evolution, snapshots, views, maintenance, formats, purge, mounts):
    part.run(tour)
tour.end()
