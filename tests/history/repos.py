"""Real repositories for the tests of history."""

from __future__ import annotations

import os
import subprocess


def git(folder, *words: str, check: bool = True, **environ: str) -> str:
    """Run git as a person would, and return what it prints."""
    done = subprocess.run(
        ["git", "-C", str(folder), *words],
        check=check,
        capture_output=True,
        text=True,
        env={**os.environ, **environ},
    )
    return done.stdout


def put(folder, path: str, text: str = "x\n") -> str:
    """Write a file below a folder and return its full path."""
    full = os.path.join(folder, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8") as stream:
        stream.write(text)
    return full


def hook(folder, name: str, *lines: str) -> None:
    """Give a repository a hook of a few shell lines."""
    path = put(folder, f".git/hooks/{name}", "\n".join(["#!/bin/sh", *lines, ""]))
    os.chmod(path, 0o700)


def a_repo(folder):
    """Make a repository with one commit of two files."""
    os.makedirs(folder, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    put(folder, "mine.txt", "one\n")
    put(folder, "other.txt", "one\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def head(folder) -> str:
    return git(folder, "rev-parse", "HEAD").strip()


def in_head(folder) -> list[str]:
    """Return the files that the last commit changed."""
    return git(folder, "show", "--name-only", "--format=", "HEAD").split()


def state(folder) -> tuple[str, str, str]:
    """Return what is staged and what is dirty."""
    return (
        git(folder, "status", "--porcelain"),
        git(folder, "diff"),
        git(folder, "diff", "--cached"),
    )
