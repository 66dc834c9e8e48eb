"""Training of a study's runs: all in one batch, or in shards on workers, each with its own cores or GPU.

The driver decides (prices, policies, schedule), keeps the result folder and summarises; a worker receives the rounds of
its runs and returns measures and states. So results do not depend on the workers, and any process can continue them.

| module | holds |
| --- | --- |
| `trainer` | the choice between this process and workers; the chunks of rounds to train |
| `split` | the runs of each shard |
| `shard` | some runs on one device, in this process or in a worker |
| `workers` | shards on workers that may be lost |
| `on_ray` | workers on Ray |
"""
