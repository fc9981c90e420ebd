"""What pyproject.toml cannot say: a wheel without the compiled reader runs on every machine, and is tagged so."""

from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel


class TaggedByContent(bdist_wheel):
    """Builds the optional extension first: what came of it decides for which machines the wheel is."""

    def run(self) -> None:
        """Build the wheel."""
        self.run_command("build_ext")
        built = self.get_finalized_command("build_ext").get_outputs()
        if not any(map(Path.exists, map(Path, built))):
            self.distribution.ext_modules = []  # so that nothing is installed as if for one machine
            self.root_is_pure = True
        super().run()


setup(cmdclass={"bdist_wheel": TaggedByContent})
