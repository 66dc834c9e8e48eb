"""What trains the runs of a study: all in one batch, or in parts that workers train, each on cores or a GPU of its own.

The driver decides (prices, policies, schedule), keeps the result folder and sums up; a worker is told of its own runs'
rounds and answers with what it measured and how it stands. So there is one folder, whoever trains, and a checkpoint
goes on anywhere.

| module | what |
| --- | --- |
| `split` | which runs a part has |
| `shard` | some runs on one device: all of a study, or a part |
| `crew` | parts that workers train, who may be lost |
| `on_ray` | workers on Ray |
"""
