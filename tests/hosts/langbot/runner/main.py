"""LangBot ships no agent runner: this one asks the model, does what tool it calls, and asks again. For tests only."""

from langbot_plugin.api.definition.plugin import BasePlugin


class TestRunner(BasePlugin):
    """Nothing but its components."""

    __test__ = False
