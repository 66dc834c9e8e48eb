"""Policies on Flower: a server that decides and keeps accounts, clients with memories on their own disks.

| module | holds |
| --- | --- |
| `server`, `server_state` | Flower's strategy, who is left out of a round; prices, grants and accounts on disk |
| `client`, `client_memory`, `sample_sources` | a client's round; its samples on disk; their origin |
| `client_reports` | clients' reports checked against grants and earlier reports |
| `messages`, `delivery` | content of messages; sending and polling |
| `app_folder`, `credentials` | a Flower app for real machines; certificates and keys |
| `local`, `processes`, `process_cleanup` | a federation on this machine |
| `superlink`, `flower_api` | Flower's server with an access rule; its operator's commands |

Only this package needs Flower, which comes with `pip install 'acdpp[flower]'`.
"""
