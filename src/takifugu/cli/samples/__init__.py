"""The demo: a made-up sample with its release file, so that the main job runs without any data."""

from takifugu.cli.samples.examples import write_demo

__all__ = ["write_demo"]
