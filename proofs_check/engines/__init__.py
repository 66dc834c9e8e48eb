"""The engines: each builds evidence of one method, and says precisely what that evidence proves."""
