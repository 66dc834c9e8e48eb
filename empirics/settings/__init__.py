"""The settings of a study: plain data, no torch.

`study` has `Study` with every setting documented at its definition, `costs` the prices it pays, `presets` the named
studies and the reading of TOML files, `toml` the writing of commented ones, `field` how a setting is declared.
`policy_name` is what a policy is called, parsed once.
"""
