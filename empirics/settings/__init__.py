"""The settings of a study: plain data, no torch.

| module | holds |
| --- | --- |
| `study` | `Study`, with every setting documented at its definition; an unknown one is refused here |
| `costs`, `drift` | the prices it pays; how its population moves |
| `presets`, `section7` | named studies; those of the paper's Section 7, and in between |
| `toml` | files of studies: read, and written with the help of each setting |
| `field` | how a setting is declared and checked |
| `policy_name`, `dataset_name` | names with their parts, parsed once |
| `ladder` | the studies between the paper's text and its released code |
"""
