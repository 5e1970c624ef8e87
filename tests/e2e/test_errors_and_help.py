"""What the command prints for invalid input, interrupts and --help."""

from __future__ import annotations

import signal
import subprocess
import time

import pytest

PRIVACY = ("--epsilon", "4", "--delta", "1e-5")
COLUMNS = ("--user", "who", "--query", "what", "--url", "where")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "none.csv", *PRIVACY, "--opt-in", "0.1", "--out", "r"), "none.csv: does not exist"),
        (
            ("run", "LOG", *PRIVACY, "--opt-in", "0.1", "--out", "r"),
            "no column 'user' for the user; its first line names 3 columns",
        ),
        (
            ("run", "LOG", "--epsilon", "0.5", "--delta", "1e-5", "--opt-in", "0.1", "--out", "r", "--profile", "paper"),
            "ε > ln 2",
        ),
        (
            ("run", "LOG", "--epsilon", "0.5", "--delta", "1e-5", "--opt-in", "0.1", "--out", "r", "--discovery", "laplace"),
            "ε > ln 2",
        ),
        (
            ("run", "LOG", *PRIVACY, "--opt-in", "0.1", "--out", "r", "--estimator", "best", *COLUMNS),
            "estimator: 'best' is unknown. Use one of: likelihood, average",
        ),
        (
            ("run", "LOG", *PRIVACY, "--opt-in", "0.1", "--out", "r", "--candidates", "none.json", *COLUMNS),
            "none.json: cannot be read",
        ),
        (
            ("run", "LOG", *PRIVACY, "--opt-in", "0.1", "--out", "r", "--subset-size", "0", *COLUMNS),
            "subset_size: 0 is not a",
        ),
        (("disagreement", "nowhere"), "nowhere: cannot be read"),
        (
            ("run", "LOG", "--epsilon", "four", "--delta", "1e-5", "--opt-in", "0.1", "--out", "r"),
            "epsilon: 'four' is not a finite number",
        ),
        (("run", "LOG", *PRIVACY, "--opt-in", "2", "--out", "r", *COLUMNS), "opt_in: 2 is not between 0 and 1"),
        (
            ("run", "LOG", *PRIVACY, "--opt-in", "lost.txt", "--out", "r", *COLUMNS),
            "lost.txt: is neither a share nor a file",
        ),
        (
            ("run", "LOG", *PRIVACY, "--opt-in", "0.1", "--out", "r", "--key", "xyz", *COLUMNS),
            "key: 'xyz' is not hexadecimal",
        ),
        (
            ("run", "LOG", *PRIVACY, "--opt-in", "0.1", "--out", "r", "--profile", "loose", *COLUMNS),
            "profile: 'loose' is unknown",
        ),
        (("run", "LOG", "--opt-in", "0.1", "--out", "r"), "Missing option '--epsilon'"),
        (("run", "LOG", *PRIVACY, "--opt-in", "0.1", "--out", "/proc/none/r", *COLUMNS), "/proc/none"),
        (("trends", "nowhere"), "nowhere: cannot be read"),
        (("search", "LOG", "x"), "is not JSON"),
        (("audit", *PRIVACY, "--head-list", "LOG"), "is not JSON"),
        (("dance",), "No such command 'dance'"),
    ],
)
def test_invalid_input_gives_one_clear_message(command, log, tmp_path, arguments, message):
    done = command(*(log if a == "LOG" else a for a in arguments))
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", "").split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "r").exists()


def test_a_file_of_user_ids_must_be_text(command, log, tmp_path):
    (tmp_path / "users.txt").write_bytes(b"\xff\xfe1\n2\n")
    done = command("run", log, *PRIVACY, "--opt-in", "users.txt", "--out", "r", *COLUMNS)
    assert (done.returncode, done.stdout) == (2, "")
    assert "users.txt: is not UTF-8 text" in done.stderr


def test_brackets_in_user_data_are_not_markup(command, tmp_path):
    """Names and queries are people's text, not markup."""
    rows = [f"{i},[/] [bold]x \\\\[/],https://x.example/[a]" for i in range(3000)]
    (tmp_path / "log.csv").write_text("\n".join(["user,query,url", *rows]), encoding="utf-8")
    done = command("run", "log.csv", *PRIVACY, "--opt-in", "0.5", "--out", "o[/]x")
    assert done.returncode == 0, done.stderr
    assert "trends o[/]x" in done.stdout
    assert "[/] [bold]x" in command("trends", "o[/]x").stdout
    assert "https://x.example/[a]" in command("search", "o[/]x", "[/]").stdout


def test_an_interrupt_leaves_nothing_behind(executable, tmp_path):
    arguments = [executable, "demo", "--users", "3000000", "--out", "r"]
    with subprocess.Popen(arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        while not (tmp_path / "r").exists():
            time.sleep(0.1)
        time.sleep(1)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert b"Traceback" not in errors
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("verb", ["demo", "run", "search", "trends", "disagreement", "aggregate", "audit", "registry"])
def test_help_has_examples(command, verb):
    done = command(verb, "--help")
    assert done.returncode == 0
    assert "Examples:" in done.stdout
    assert f"blender-dp {verb}" in done.stdout


def test_the_command_alone_lists_its_verbs(command):
    done = command()
    assert all(verb in done.stdout for verb in ("demo", "run", "search", "trends", "disagreement", "aggregate", "audit"))
    assert command("--version").stdout.startswith("blender-dp 0.")


def test_only_spark_reads_uris(command, log, tmp_path):
    done = command("run", f"file://{log}", *PRIVACY, "--opt-in", "0.3", "--out", "r", *COLUMNS)
    assert (done.returncode, done.stdout) == (2, "")
    assert "only Spark reads URIs" in done.stderr
    assert "--engine spark" in done.stderr
    assert list(tmp_path.glob("r*")) == []
