"""On Ray itself: the bytes of a run in one process, whichever process is killed."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial

import pytest

from empirics.results.folder import read_settings
from empirics.settings.toml import toml
from tests.empirics.shards.local_backend import done, files, small
from tests.empirics.small import until

psutil = pytest.importorskip("psutil")
pytest.importorskip("ray")
pytestmark = pytest.mark.slow

LONG = {"rounds": 800, "checkpoint": 20}


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(toml(small(**LONG)))
    return path


@pytest.fixture
def program():
    """Starts the program, which ends with the test."""
    children = []

    def start(*words):
        command = [sys.executable, "-m", "acdpp", *map(str, words)]
        env = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        as_in_a_terminal = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
        child = subprocess.Popen(command, env=env, preexec_fn=as_in_a_terminal, **pipes)
        children.append(child)
        return child

    yield start
    for child in children:
        if child.poll() is None:
            child.kill()
            child.communicate()


def ended(child):
    """Exit status, and standard error without progress."""
    _, err = child.communicate(timeout=600)
    return child.returncode, re.sub(r"(?m)^acdpp: (rounds|reading|looking).*\n", "", err)


def begun(child, out):
    """Wait until some rounds are saved; returns the processes below the program."""
    until(lambda: (out / "settings.json").exists() and done(out) >= 60)
    return psutil.Process(child.pid).children(recursive=True)


def workers(child):
    """The numbers of those that train."""
    found = set()
    for one in psutil.Process(child.pid).children(recursive=True):
        with suppress(psutil.Error):  # it has just ended
            if one.cmdline() and one.cmdline()[0].startswith("ray::Worker"):
                found.add(one.pid)
    return found


def alive(processes):
    """The running processes, without zombies."""
    found = []
    for one in processes:
        with suppress(psutil.Error):
            if one.is_running() and one.status() != psutil.STATUS_ZOMBIE:
                found.append(one)
    return found


def test_workers_on_loopback_give_the_same_bytes_though_one_is_killed(whole, config, program, tmp_path):
    """They leave no process behind."""
    child = program("train", "--config", config, "--on", "ray", "--shards", 2, "--out", tmp_path / "out")
    there = begun(child, tmp_path / "out")
    open_to = [one for process in there for one in process.net_connections("inet")]
    places, ports = zip(*(one.laddr for one in open_to if one.status == psutil.CONN_LISTEN), strict=True)
    first = workers(child)
    assert len(first) == 2
    assert {ip.removeprefix("::ffff:") for ip in places} == {"127.0.0.1"}
    assert 8265 not in ports  # of the dashboard
    os.kill(min(first), signal.SIGKILL)
    until(lambda: workers(child) - first)
    assert ended(child) == (0, "")
    assert files(tmp_path / "out") == whole
    until(lambda: not alive(there), 60)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_study_leaves_no_process_and_loses_no_checkpoint(whole, config, program, tmp_path, stop):
    out = tmp_path / "out"
    told = f"acdpp: stopped; continue with acdpp resume {out} --on ray\n"
    child = program("train", "--config", config, "--on", "ray", "--shards", 3, "--out", out)
    there = begun(child, out)
    child.send_signal(stop)
    assert ended(child) == ((130, told) if stop == signal.SIGINT else (-stop, ""))
    until(lambda: not alive(there))  # Ray looks now and then whether its driver is there
    assert 60 <= done(out) < 800
    on = ["--on", "ray", "--shards", 2] if stop == signal.SIGINT else []  # else in one batch
    status, err = ended(program("resume", out, *on))
    assert status == 0, err
    assert files(out) == whole
    assert len(read_settings(out)["continued"][0].get("shards", [])) == (2 if on else 0)


# --- a cluster of two nodes on one machine -----------------------------------------------------------------

CLUSTER = """
import sys
from ray.cluster_utils import Cluster
head = {"num_cpus": 1, "ray_client_server_port": int(sys.argv[1]), "include_dashboard": False}
cluster = Cluster(initialize_head=True, head_node_args=head)
second = cluster.add_node(num_cpus=1)
print(cluster.address, flush=True)
for line in sys.stdin:
    cluster.remove_node(second, allow_graceful=False)
    print("removed", flush=True)
cluster.shutdown()
"""


@pytest.fixture
def cluster():
    """The cluster's address, its address for clients, and a function that ends the second node."""
    env = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
    env.pop("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", None)
    port = 20000 + os.getpid() % 10000
    command = [sys.executable, "-W", "ignore", "-c", CLUSTER, str(port)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, env=env, **pipes) as child:
        address = child.stdout.readline().strip()

        def lose():
            child.stdin.write("\n")
            child.stdin.flush()
            assert child.stdout.readline() == "removed\n"

        yield address, f"ray://127.0.0.1:{port}", lose
        child.stdin.close()
        child.wait(60)


@pytest.mark.parametrize("client", [False, True], ids=["driver on a node", "driver elsewhere"])
def test_two_nodes_give_the_same_bytes(whole, config, program, cluster, tmp_path, client):
    out = tmp_path / "out"
    assert ended(program("train", "--config", config, "--on", cluster[client], "--out", out)) == (0, "")
    assert files(out) == whole
    assert len(read_settings(out)["shards"]) == 2


def test_a_node_that_is_lost_costs_no_more_than_a_worker(whole, config, program, cluster, tmp_path):
    out = tmp_path / "out"
    child = program("train", "--config", config, "--on", cluster[0], "--out", out)
    begun(child, out)
    time.sleep(0.5)
    cluster[2]()
    assert child.poll() is None
    assert done(out) < 800
    assert ended(child) == (0, "")
    assert files(out) == whole
