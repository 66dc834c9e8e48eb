"""The terms that decide a design in the long run."""
