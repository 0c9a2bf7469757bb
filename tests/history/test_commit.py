"""Commits of what rose wrote, in real repositories: nothing else goes in, nothing else moves."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from rose import files, layout
from rose.history.commit import Commit, commit
from tests.history.repos import a_repo, git, head, hook, in_head, put, state

MESSAGE = "rose: add r_0000aa"
RULE = ".rose/routing/r_0000aa.md"


def put_in(folder, *paths: str, **options) -> Commit:
    return commit(str(folder), [os.path.join(folder, path) for path in paths], MESSAGE, **options)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def repo(tmp_path):
    return a_repo(tmp_path / "repo")


def test_new_and_changed_files_go_into_one_commit(repo):
    put(repo, RULE)
    put(repo, "mine.txt", "two\n")
    done = put_in(repo, RULE, "mine.txt")
    assert (done.sha, done.reason) == (head(repo), "committed")
    assert in_head(repo) == [RULE, "mine.txt"]
    assert git(repo, "log", "-1", "--format=%s").strip() == MESSAGE
    assert git(repo, "status", "--porcelain") == ""


def test_a_deleted_file_is_committed_as_deleted(repo):
    os.unlink(repo / "mine.txt")
    assert put_in(repo, "mine.txt").reason == "committed"
    assert git(repo, "show", "--name-status", "--format=", "HEAD").split() == ["D", "mine.txt"]
    assert git(repo, "status", "--porcelain") == ""


def test_what_is_staged_dirty_renamed_or_partly_staged_stays_so(repo):
    put(repo, "to-rename.txt", "a\nb\nc\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "more")
    put(repo, "mine.txt", "staged\n")
    git(repo, "add", "mine.txt")
    put(repo, "mine.txt", "staged\nand dirty\n")
    put(repo, "other.txt", "dirty\n")
    put(repo, "new.txt")
    put(repo, "meant.txt")
    git(repo, "add", "--intent-to-add", "meant.txt")
    git(repo, "mv", "to-rename.txt", "renamed.txt")
    before = state(repo)
    put(repo, RULE)
    assert put_in(repo, RULE).reason == "committed"
    assert in_head(repo) == [RULE]
    assert state(repo) == before


def test_a_file_of_roses_with_staged_changes_is_left_out_and_stays_staged(repo):
    put(repo, RULE, "mine\n")
    git(repo, "add", RULE)
    put(repo, RULE, "mine, and what rose made of it\n")
    put(repo, ".rose/routing/r_0000bb.md")
    before = git(repo, "diff", "--cached")
    done = put_in(repo, RULE, ".rose/routing/r_0000bb.md")
    left = f"{RULE} holds changes of yours that are not committed"
    assert done.reason == f"{left}; the rest is committed"
    assert in_head(repo) == [".rose/routing/r_0000bb.md"]
    assert git(repo, "diff", "--cached") == before
    assert put_in(repo, RULE) == Commit(None, left)


@pytest.mark.parametrize(
    ("was", "reason"),
    [
        ("one\n", "committed"),
        ("a person's words\n", "mine.txt holds changes of yours that are not committed"),
        ("", "mine.txt holds changes of yours that are not committed"),
    ],
    ids=["as in HEAD", "edited before", "new to rose"],
)
def test_a_file_that_was_not_as_head_has_it_before_rose_came_is_left_out(repo, was, reason):
    put(repo, "mine.txt", "what rose made of it\n")
    known = {str(repo / "mine.txt"): {digest(was) if was else ""}}
    assert put_in(repo, "mine.txt", was=known).reason == reason


def test_line_ends_that_git_converts_are_no_changes_of_a_persons(repo):
    put(repo, ".gitattributes", "*.txt text eol=crlf\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "line ends")
    put(repo, "mine.txt", "two\r\n")
    known = {str(repo / "mine.txt"): {digest("one\r\n")}}
    assert put_in(repo, "mine.txt", was=known).reason == "committed"


def test_a_store_in_a_subfolder_is_committed_to_the_repository_above_it(repo):
    put(repo, f"sub/{RULE}")
    assert put_in(repo / "sub", RULE).reason == "committed"
    assert in_head(repo) == [f"sub/{RULE}"]


def test_the_first_commit_of_a_repository_may_be_roses(tmp_path):
    git(tmp_path, "init", "-q")
    put(tmp_path, "staged.txt")
    git(tmp_path, "add", "staged.txt")
    put(tmp_path, RULE)
    assert put_in(tmp_path, RULE).reason == "committed"
    assert in_head(tmp_path) == [RULE]
    assert git(tmp_path, "status", "--porcelain", "staged.txt") == "A  staged.txt\n"


def test_a_repository_with_longer_hashes_takes_a_commit(tmp_path):
    git(tmp_path, "init", "-q", "--object-format=sha256")
    put(tmp_path, RULE)
    assert put_in(tmp_path, RULE).reason == "committed"
    assert git(tmp_path, "status", "--porcelain") == ""


def test_a_shallow_clone_takes_a_commit(repo, tmp_path):
    git(repo, "commit", "-q", "--allow-empty", "-m", "second")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "shallow")
    put(tmp_path / "shallow", RULE)
    assert put_in(tmp_path / "shallow", RULE).reason == "committed"
    assert in_head(tmp_path / "shallow") == [RULE]


def test_a_worktree_commits_to_its_own_branch(repo, tmp_path):
    git(repo, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    put(tmp_path / "side", RULE)
    before = head(repo), state(repo)
    assert put_in(tmp_path / "side", RULE).reason == "committed"
    assert git(tmp_path / "side", "status", "--porcelain") == ""
    assert (head(repo), state(repo)) == before
    assert git(repo, "ls-tree", "-r", "--name-only", "side", RULE).strip() == RULE


def with_submodule(repo, tmp_path, name: str):
    """Add a submodule to a repository and return its folder."""
    inner = a_repo(tmp_path / "inner")
    put(inner, "routing/r_0000aa.md")
    git(inner, "add", "-A")
    git(inner, "commit", "-q", "-m", "rules")
    allow = ("-c", "protocol.file.allow=always")
    git(repo, *allow, "submodule", "--quiet", "add", str(inner), name)
    git(repo, "commit", "-q", "-m", "submodule")
    return repo / name


def test_a_dirty_submodule_is_left_as_it_is(repo, tmp_path):
    inner = with_submodule(repo, tmp_path, "vendor")
    git(inner, "commit", "-q", "--allow-empty", "-m", "ahead")
    before = state(repo)
    put(repo, RULE)
    assert put_in(repo, RULE).reason == "committed"
    assert in_head(repo) == [RULE]
    assert state(repo) == before


def test_a_store_that_is_a_submodule_is_committed_to_itself_alone(repo, tmp_path):
    inner = with_submodule(repo, tmp_path, ".rose")
    put(repo, RULE, "two\n")
    before = head(repo)
    assert put_in(repo, RULE).reason == "committed"
    assert in_head(inner) == ["routing/r_0000aa.md"]
    assert head(repo) == before
    git(inner, "checkout", "-q", "--detach")
    put(repo, RULE, "three\n")
    assert put_in(repo, RULE) == Commit(None, "no branch is checked out")


def test_a_file_in_another_repository_is_left_out(repo, tmp_path):
    with_submodule(repo, tmp_path, "nodes")
    put(repo, RULE)
    put(repo, "nodes/lesson.md")
    assert put_in(repo, RULE, "nodes/lesson.md").reason == "committed"
    assert in_head(repo) == [RULE]


def test_a_folder_stands_for_the_files_in_it(repo):
    put(repo, ".rose/ledger/a.jsonl")
    assert put_in(repo, ".rose/ledger").reason == "committed"
    assert in_head(repo) == [".rose/ledger/a.jsonl"]


def test_a_file_whose_name_is_a_pattern_is_no_pattern(repo):
    put(repo, "a.md")
    put(repo, "*.md")
    assert put_in(repo, "*.md").reason == "committed"
    assert in_head(repo) == ["*.md"]
    assert git(repo, "status", "--porcelain") == "?? a.md\n"


@pytest.mark.parametrize(
    ("paths", "reason"),
    [
        (["mine.txt"], "nothing changed"),
        ([".rose/local/layer.json"], "nothing of it is tracked by git"),
        (["never.md"], "nothing of it is tracked by git"),
        (["../outside.md"], "this is no git repository"),
        (["mine.txt", "../outside.md"], "nothing changed"),
    ],
    ids=["unchanged", "ignored", "missing", "outside", "partly outside"],
)
def test_where_there_is_nothing_to_commit_there_is_no_commit(repo, paths, reason):
    put(repo, ".gitignore", ".rose/local/\n")
    put(repo, ".rose/local/layer.json")
    put(repo, "../outside.md")
    before = head(repo)
    assert put_in(repo, *paths) == Commit(None, reason)
    assert head(repo) == before


def test_what_git_ignores_but_tracks_is_committed(repo):
    put(repo, ".gitignore", "mine.txt\n")
    put(repo, "mine.txt", "two\n")
    assert put_in(repo, "mine.txt").reason == "committed"


def _detached(repo):
    git(repo, "checkout", "-q", "--detach")


def _diverged(repo):
    git(repo, "checkout", "-q", "-b", "theirs")
    put(repo, "mine.txt", "theirs\n")
    git(repo, "commit", "-q", "-a", "-m", "theirs")
    git(repo, "checkout", "-q", "main")
    put(repo, "mine.txt", "ours\n")
    git(repo, "commit", "-q", "-a", "-m", "ours")


def _merging(repo):
    _diverged(repo)
    git(repo, "merge", "theirs", check=False)


def _squashing(repo):
    git(repo, "checkout", "-q", "-b", "theirs")
    put(repo, "new.txt")
    git(repo, "add", "new.txt")
    git(repo, "commit", "-q", "-m", "theirs")
    git(repo, "checkout", "-q", "main")
    git(repo, "merge", "--squash", "theirs")


def _rebasing(repo):
    _diverged(repo)
    git(repo, "rebase", "theirs", check=False)


def _picking(repo):
    _diverged(repo)
    git(repo, "cherry-pick", "theirs", check=False)


def _reverting(repo):
    _diverged(repo)
    git(repo, "revert", "--no-edit", "HEAD~1", check=False)
    git(repo, "revert", "--no-commit", "HEAD", check=False)


def _bisecting(repo):
    git(repo, "bisect", "start", "--no-checkout")


def _locked(repo):
    put(repo, ".git/index.lock", "")


def _signing(repo):
    git(repo, "config", "commit.gpgsign", "true")
    git(repo, "config", "gpg.program", "false")


def _refusing(repo):
    hook(repo, "pre-commit", "echo no commits today >&2", "exit 1")


def _refusing_messages(repo):
    hook(repo, "commit-msg", "echo not in our style >&2", "exit 1")


@pytest.mark.parametrize(
    ("hinder", "reason"),
    [
        (_detached, "no branch is checked out"),
        (_merging, "the repository is in the middle of something (MERGE_HEAD)"),
        (_squashing, "the repository is in the middle of something (SQUASH_MSG)"),
        (_rebasing, "the repository is in the middle of something ("),
        (_picking, "the repository is in the middle of something ("),
        (_reverting, "the repository is in the middle of something ("),
        (_bisecting, "the repository is in the middle of something (BISECT_LOG)"),
        (_locked, "the index is locked (index.lock)"),
        (_signing, "git refused: gpg failed to sign the data"),
        (_refusing, "git refused: no commits today"),
        (_refusing_messages, "git refused: not in our style"),
    ],
)
def test_a_repository_that_is_busy_or_refuses_gets_no_commit(repo, hinder, reason):
    hinder(repo)
    put(repo, RULE)
    before = head(repo), state(repo)
    index = git(repo, "ls-files", "--stage")
    done = put_in(repo, RULE)
    assert done.sha is None
    assert done.reason.startswith(reason)
    assert git(repo, "ls-files", "--stage") == index
    assert (head(repo), state(repo)) == before


def test_who_is_not_known_to_git_is_told_and_no_name_is_made_up(repo, monkeypatch):
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME")
        monkeypatch.delenv(f"GIT_{role}_EMAIL")
    put(repo, RULE)
    reason = "git does not know you: set user.name and user.email"
    assert put_in(repo, RULE) == Commit(None, reason)
    git(repo, "config", "user.name", "Ada")
    git(repo, "config", "user.email", "ada@example.org")
    assert put_in(repo, RULE).reason == "committed"
    assert git(repo, "log", "-1", "--format=%an").strip() == "Ada"


def test_no_editor_opens_and_no_template_comes_in(repo, monkeypatch):
    monkeypatch.setenv("EDITOR", "false")
    put(repo, "template", "FILL THIS IN\n")
    git(repo, "config", "commit.template", str(repo / "template"))
    git(repo, "config", "commit.cleanup", "strip")
    put(repo, RULE)
    message = f"{MESSAGE}\n\n# no comment\n"
    assert commit(str(repo), [str(repo / RULE)], message).reason == "committed"
    assert git(repo, "log", "-1", "--format=%B").rstrip() == message.rstrip()


def test_a_hook_that_hangs_is_ended_and_leaves_no_lock(repo):
    hook(repo, "pre-commit", f"touch {repo}/started", "sleep 600")
    put(repo, RULE)
    before = head(repo)
    assert put_in(repo, RULE, wait_s=1.0).reason == "git refused: it took longer than 1 s"
    assert os.path.exists(repo / "started")
    assert head(repo) == before
    assert [name for name in os.listdir(repo / ".git") if "lock" in name] == ["rose.lock"]
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert f"{repo}/.git/hooks" not in running.stdout
    assert f"?? {RULE}" in git(repo, "status", "--porcelain", "-uall")


def test_a_hook_that_hangs_after_the_commit_spoils_nothing(repo):
    hook(repo, "post-commit", "sleep 600")
    put(repo, RULE)
    done = put_in(repo, RULE, wait_s=1.0)
    assert (done.sha, done.reason) == (head(repo), "committed")
    assert git(repo, "status", "--porcelain") == ""


def test_a_program_that_a_hook_leaves_behind_holds_nobody_up(repo):
    hook(repo, "post-commit", "sleep 30 &")
    put(repo, RULE)
    assert put_in(repo, RULE, wait_s=1.0).reason == "committed"


def test_the_index_is_free_while_a_hook_runs(repo):
    script = "GIT_INDEX_FILE= ; unset GIT_INDEX_FILE; git add other.txt"
    hook(repo, "pre-commit", f"({script}) || exit 1")
    put(repo, "other.txt", "staged meanwhile\n")
    put(repo, RULE)
    assert put_in(repo, RULE).reason == "committed"
    assert in_head(repo) == [RULE]
    assert git(repo, "status", "--porcelain") == "M  other.txt\n"


def test_what_a_hook_makes_of_roses_file_is_committed_and_told(repo):
    hook(repo, "pre-commit", f"echo formatted >> {RULE}", f"git add {RULE}")
    put(repo, RULE, "rule\n")
    put(repo, "other.txt", "dirty\n")
    done = put_in(repo, RULE)
    assert done.reason == "committed"
    assert git(repo, "show", f"HEAD:{RULE}") == "rule\nformatted\n"
    assert git(repo, "status", "--porcelain") == " M other.txt\n"
    assert done.digests == {str(repo / RULE): digest("rule\nformatted\n")}


def test_a_commit_to_which_a_hook_added_a_persons_file_is_unmade(repo):
    hook(repo, "pre-commit", "git add -A")
    put(repo, "other.txt", "dirty\n")
    put(repo, RULE)
    before = head(repo), state(repo)
    assert put_in(repo, RULE) == Commit(None, "the commit would have held other.txt too")
    assert (head(repo), state(repo)) == before


def test_a_first_commit_to_which_a_hook_added_files_is_unmade_too(tmp_path):
    git(tmp_path, "init", "-q")
    hook(tmp_path, "pre-commit", "git add -A")
    put(tmp_path, "new.txt")
    put(tmp_path, RULE)
    before = git(tmp_path, "status", "--porcelain")
    assert put_in(tmp_path, RULE).sha is None
    assert git(tmp_path, "rev-parse", "--verify", "HEAD", check=False) == "HEAD\n"[:0]
    assert git(tmp_path, "status", "--porcelain") == before


def commits_theirs(repo) -> str:
    """Return a script that commits, once, what is staged, as somebody else would."""
    once = f"test -e {repo}/.git/once && exit 0; touch {repo}/.git/once"
    put(repo, "other.txt", "theirs\n")
    git(repo, "add", "other.txt")
    return f"({once}; unset GIT_INDEX_FILE; git commit -q -m theirs >/dev/null)"


def _while_hooks_run(repo):
    hook(repo, "pre-commit", commits_theirs(repo))


def _before_hooks_run(repo):
    # A filter runs as rose puts its file into the index of its own.
    git(repo, "config", "filter.late.clean", f"{commits_theirs(repo)}; cat")
    put(repo, ".git/info/attributes", f"{RULE} filter=late\n")


@pytest.mark.parametrize("moment", [_while_hooks_run, _before_hooks_run])
def test_a_commit_of_somebody_else_in_the_same_moment_is_not_taken_back(repo, moment):
    moment(repo)
    put(repo, RULE)
    assert put_in(repo, RULE).reason == "committed"
    assert git(repo, "log", "-2", "--format=%s").split("\n")[:2] == [MESSAGE, "theirs"]
    assert in_head(repo) == [RULE]
    assert git(repo, "show", "HEAD:other.txt") == "theirs\n"
    assert git(repo, "status", "--porcelain", "-uall") == ""


def test_where_somebody_commits_each_time_rose_gives_up(repo):
    script = "unset GIT_INDEX_FILE GIT_EDITOR; git commit -q --no-verify --allow-empty -m theirs"
    hook(repo, "pre-commit", f"({script})")
    put(repo, RULE)
    assert put_in(repo, RULE) == Commit(None, "somebody committed in the same moment")
    assert git(repo, "status", "--porcelain", "-uall") == f"?? {RULE}\n"


def test_where_the_index_is_locked_at_the_last_moment_there_is_no_commit(repo):
    hook(repo, "pre-commit", "touch .git/index.lock")
    put(repo, RULE)
    before = head(repo)
    assert put_in(repo, RULE).sha is None
    os.unlink(repo / ".git" / "index.lock")
    assert head(repo) == before
    assert git(repo, "status", "--porcelain", "-uall") == f"?? {RULE}\n"


def test_an_index_that_is_locked_after_the_commit_is_in_line_already(repo):
    hook(repo, "post-commit", "touch .git/index.lock")
    put(repo, RULE)
    assert put_in(repo, RULE).reason == "committed"
    os.unlink(repo / ".git" / "index.lock")
    assert git(repo, "status", "--porcelain") == ""


def test_a_commit_waits_for_another_of_roses_and_not_for_ever(repo):
    put(repo, RULE)
    with files.lock(layout.commit_lock(str(repo / ".git"))):
        assert put_in(repo, RULE, wait_s=0.2) == Commit(None, "another commit is under way")
    assert put_in(repo, RULE).reason == "committed"


def test_commits_at_once_take_nothing_back(repo):
    rules = [f".rose/routing/r_{number:06x}.md" for number in range(6)]
    for rule in rules:
        put(repo, rule)
    with ThreadPoolExecutor(len(rules)) as pool:
        done = list(pool.map(lambda rule: put_in(repo, rule), rules))
    assert [one.reason for one in done] == ["committed"] * len(rules)
    assert git(repo, "log", "--diff-filter=D", "--format=%s", "--name-only") == ""
    assert git(repo, "ls-tree", "-r", "--name-only", "HEAD", ".rose/").split() == rules
    assert git(repo, "status", "--porcelain") == ""


@pytest.mark.parametrize("moment", ["pre-commit", "commit-msg", "post-commit"])
def test_a_kill_at_any_step_leaves_nothing_that_a_persons_commit_takes_back(repo, moment):
    put(repo, RULE, "old\n")
    put(repo, "gone.md")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "more")
    fresh = ".rose/routing/r_0000bb.md"
    put(repo, RULE, "new\n")
    put(repo, fresh)
    os.unlink(repo / "gone.md")
    put(repo, "mine.txt", "staged\n")
    git(repo, "add", "mine.txt")
    put(repo, "mine.txt", "staged\nand dirty\n")
    # The parent of the hook is git; rose, its parent, ends by itself.
    hook(repo, moment, "rm -f .git/hooks/*", "kill -9 $PPID", "sleep 0.1")
    put_in(repo, RULE, fresh, "gone.md")
    for lock in ("index.lock", "HEAD.lock"):
        assert not os.path.exists(repo / ".git" / lock)
    put(repo, "user.txt")
    git(repo, "add", "user.txt")
    git(repo, "commit", "-q", "-m", "theirs")
    changed = git(repo, "show", "--name-status", "--format=", "HEAD").splitlines()
    assert changed == ["M\tmine.txt", "A\tuser.txt"]
    assert git(repo, "show", "HEAD:mine.txt") == "staged\n"


@pytest.mark.parametrize(("moment", "made"), [("commit-msg", False), ("post-commit", True)])
def test_a_kill_of_rose_and_git_leaves_roses_files_staged_at_worst(repo, moment, made):
    put(repo, RULE)
    lines = ("rm -f .git/hooks/*", "kill -9 $(cat .git/rose-pid) $PPID")
    hook(repo, moment, *lines, "sleep 0.1")
    words = f"""
import os
from rose.history.commit import commit
open({str(repo / ".git" / "rose-pid")!r}, "w").write(str(os.getpid()))
commit({str(repo)!r}, [{str(repo / RULE)!r}], "rose")
"""
    ended = subprocess.run([sys.executable, "-c", words], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert git(repo, "status", "--porcelain", "-uall") == ("" if made else f"A  {RULE}\n")
    put(repo, "user.txt")
    git(repo, "add", "user.txt")
    git(repo, "commit", "-q", "-m", "theirs")
    assert git(repo, "show", f"HEAD:{RULE}") == "x\n"
    assert git(repo, "status", "--porcelain") == ""


def test_the_variables_of_a_surrounding_hook_lead_nowhere_else(repo, tmp_path, monkeypatch):
    other = a_repo(tmp_path / "other")
    before = head(other), state(other)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    monkeypatch.setenv("GIT_PREFIX", "sub/")
    put(repo, RULE)
    done = put_in(repo, RULE)
    assert os.environ["GIT_DIR"] == str(other / ".git")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"):
        monkeypatch.delenv(name)
    assert (done.sha, done.reason) == (head(repo), "committed")
    assert git(repo, "status", "--porcelain") == ""
    assert (head(other), state(other)) == before


def test_a_hook_knows_that_rose_is_at_work_and_keeps_its_language(repo, monkeypatch):
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    hook(repo, "pre-commit", f'echo "$ROSE_CHILD $LC_ALL $GIT_TERMINAL_PROMPT" > {repo}/said')
    put(repo, RULE)
    assert put_in(repo, RULE).reason == "committed"
    assert (repo / "said").read_text() == "1 C.UTF-8 0\n"


def test_a_bare_repository_gets_no_commit(tmp_path):
    git(tmp_path, "init", "-q", "--bare")
    assert put_in(tmp_path, "a.md") == Commit(None, "the repository is bare")


def test_a_folder_outside_git_is_said_to_be_none(tmp_path):
    put(tmp_path, "a.md")
    assert put_in(tmp_path, "a.md") == Commit(None, "this is no git repository")


def test_without_the_git_program_everything_else_goes_on(repo, monkeypatch):
    put(repo, "mine.txt", "two\n")
    monkeypatch.setenv("PATH", str(repo))
    assert put_in(repo, "mine.txt") == Commit(None, "git is not installed")


def test_a_folder_that_is_gone_with_its_last_file_is_no_hindrance(repo):
    put(repo, "nodes/a.md")
    assert put_in(repo, "nodes/a.md").reason == "committed"
    shutil.rmtree(repo / "nodes")
    assert put_in(repo, "nodes/a.md").reason == "committed"
    assert in_head(repo) == ["nodes/a.md"]
