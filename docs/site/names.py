"""The package as it is installed: the folders of the checkout under the one name `knowwhen`.

The reference of the API is made from the sources, without importing them. An editable install maps folders to
names with code that runs at import time, which a reader of sources cannot follow.
"""

import shutil
import tomllib
from pathlib import Path


def copy_package(root: Path, folder: Path) -> None:
    """Copy the modules of the checkout at `root` to where they lie when installed in `folder`."""
    setuptools = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    shutil.rmtree(folder, ignore_errors=True)
    for name in setuptools["packages"]:
        parts, below = name.split("."), []
        while ".".join(parts) not in setuptools["package-dir"]:
            below.insert(0, parts.pop())
        home = folder.joinpath(*name.split("."))
        home.mkdir(parents=True)
        for module in (root / setuptools["package-dir"][".".join(parts)]).joinpath(*below).glob("*.py"):
            shutil.copyfile(module, home / module.name)
