#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Downloads a source package's archive as it lies in the index that pip is set up for, and nothing else.

    download_sdist.py NAME VERSION FOLDER

`pip download` would also build the package's metadata, a minute and a build environment for an archive of which only headers
are wanted. So pip's own finder and session are asked here; they are internal to pip, so where they have changed,
`pip download` does it the long way."""
import pathlib
import subprocess
import sys


def by_finder(name, version, folder):
    from pip._internal.commands import create_command
    from pip._vendor.packaging.specifiers import SpecifierSet
    command = create_command("download")
    options, _ = command.parse_args(["--no-deps", "--no-binary", name, name])
    with command.main_context():
        session = command.get_default_session(options)
        finder = command._build_package_finder(options, session)
        found = finder.find_best_candidate(name, SpecifierSet("==" + version)).best_candidate
        if found is None:
            raise LookupError(f"the index has no source of {name} {version}")
        response = session.get(found.link.url_without_fragment, headers={"Accept-Encoding": "identity"}, stream=True)
        response.raise_for_status()
        scratch = folder / (found.link.filename + ".part")
        with open(scratch, "wb") as file:
            for piece in response.iter_content(1 << 20):
                file.write(piece)
        scratch.rename(folder / found.link.filename)


def main():
    name, version, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    try:
        by_finder(name, version, folder)
    except Exception as error:  # whatever a pip of another release does otherwise
        print(f"download_sdist.py: {type(error).__name__}: {error}; trying `pip download`", file=sys.stderr)
        sys.exit(subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet",
                                 "--no-deps", "--no-binary", name, "--dest", str(folder), f"{name}=={version}"],
                                stdout=sys.stderr).returncode)


main()
