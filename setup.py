"""What pyproject.toml cannot say: how the compiled reader is built where, and for which machines a wheel is.

Two variables of the environment say what is wanted: LEXIRECALL_REQUIRE_NATIVE=1 makes it an error if the reader cannot
be built (otherwise the installation continues without it), and LEXIRECALL_PURE=1 leaves it out.
"""

import os
import sysconfig
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
OF_MSVC = ["/O2", "/std:c11"]  # it would ignore what the other compilers are told, and take restrict for a name


def is_asked(variable: str) -> bool:
    """Tell whether a variable of the environment is set to 1."""
    asked = os.environ.get(variable, "") or "0"
    if asked not in {"0", "1"}:
        raise SystemExit(f"{variable}={asked}: write 1, or 0")
    return asked == "1"


class Adapted(Distribution):
    """Reads pyproject.toml, and adapts the extension to the interpreter and to what is asked for."""

    def parse_config_files(self, *arguments: object, **keywords: object) -> None:
        """Read the configuration."""
        super().parse_config_files(*arguments, **keywords)
        is_required = is_asked("LEXIRECALL_REQUIRE_NATIVE")
        if is_asked("LEXIRECALL_PURE"):
            if is_required:
                raise SystemExit("LEXIRECALL_PURE and LEXIRECALL_REQUIRE_NATIVE exclude each other")
            self.ext_modules = []
        for extension in self.ext_modules or []:
            extension.optional = not is_required
            if FREE_THREADED:  # which has no stable interface
                extension.py_limited_api = False
                extension.define_macros = [each for each in extension.define_macros if each[0] != "Py_LIMITED_API"]


class ToldApart(build_ext):
    """Tells each compiler what it understands."""

    def build_extensions(self) -> None:
        """Build the extension."""
        if self.compiler.compiler_type == "msvc":
            for extension in self.extensions:
                extension.extra_compile_args = OF_MSVC
        super().build_extensions()


class TaggedByContent(bdist_wheel):
    """Builds the optional extension first: what came of it decides for which machines the wheel is."""

    def finalize_options(self) -> None:
        """Say for which interpreters the wheel is."""
        if FREE_THREADED:
            self.py_limited_api = False
        super().finalize_options()

    def run(self) -> None:
        """Build the wheel."""
        self.run_command("build_ext")
        built = self.get_finalized_command("build_ext").get_outputs() if self.distribution.ext_modules else []
        if not any(map(Path.exists, map(Path, built))):
            self.distribution.ext_modules = []  # so that nothing is installed as if for one machine
            self.root_is_pure = True
        super().run()


setup(cmdclass={"bdist_wheel": TaggedByContent, "build_ext": ToldApart}, distclass=Adapted)
