"""The policies on Flower: a server that decides and keeps books, clients with memories on their own disks.

Nothing else in the project needs Flower; it comes with `pip install 'acdpp[flower]'`.
"""
