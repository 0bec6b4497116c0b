#!/usr/bin/env python3
"""Attack a server with sixteen clients at once, one attack after the other, while another client searches.

usage: attacks.py PROGRAM HOME [SECONDS] [ATTACK]

The attacks are those of soak.py. Each runs for SECONDS (default 20) and then until all its clients have an answer. For each the script
prints tries, outcomes, the latency of searches beside it (p50, p99), and the memory of the server with its workers: at most, and a minute
after. ATTACK selects those whose name contains it. Exits with 1 if the server ended, if an attack had a status that rejects nothing, if a
search failed, or if p99 of the searches exceeds a second.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time

import soak

CLIENTS = 16
PROBE = "127.0.0.1"  # no attacker has this address
PAUSE = 0.05  # seconds between two searches


def probe(ended, times, failures):
    """Searches again and again until the event."""
    while not ended.is_set():
        began = time.time()
        try:
            status = soak.send(PROBE, "GET", f"/api/search?q={soak.WORDS[len(times) % len(soak.WORDS)]}&k=10")
        except OSError as error:
            status = type(error).__name__
        times.append(time.time() - began)
        if status != 200:
            failures.append(status)
        time.sleep(PAUSE)


def observe(process, ended, peak):
    """Records the maximum of memory and descriptors until the event."""
    while not ended.wait(.5):
        peak[:] = map(max, peak, soak.usage(process))


def attack(name, number, until, tally):
    draw = soak.random.Random(number)
    while time.time() < until:
        began = time.time()
        try:
            outcome = soak.ATTACKS[name](soak.address(number, network=2), draw)
        except OSError as error:
            outcome = type(error).__name__
        tally.attacked(name, outcome, time.time() - began)


def measure(server, name, seconds):
    """Runs one attack and prints its line. Returns true if the server kept its promises."""
    tally, times, failures, peak = soak.Tally(), [], [], [0, 0, 0]
    ended = threading.Event()
    until = time.time() + seconds
    observers = [threading.Thread(target=probe, args=(ended, times, failures)),
                 threading.Thread(target=observe, args=(server.pid, ended, peak))]
    attackers = [threading.Thread(target=attack, args=(name, number + 1, until, tally)) for number in range(CLIENTS)]
    for thread in observers + attackers:
        thread.start()
    for thread in attackers:
        thread.join()
    ended.set()
    for thread in observers:
        thread.join()
    time.sleep(soak.REST)
    own, with_workers, _ = soak.usage(server.pid)
    outcomes = ", ".join(f"{outcome}: {count}" for outcome, count in sorted(tally.attacks[name].items(), key=str))
    p99 = soak.quantile(times, .99)
    print(f"{name:36} {sum(tally.attacks[name].values()):6} tries; {outcomes}; longest {tally.longest[name]:.1f} s; {len(times)} searches, "
          f"p50 {soak.quantile(times, .5) * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms; memory {peak[1]:.0f} MB at most, {with_workers:.0f} MB "
          f"after {soak.REST} s, of it the server {own:.0f} MB", flush=True)
    wrong = [f"outcome {outcome}" for _, outcome in tally.wrong] + [f"search: {status}" for status in failures]
    wrong += [f"p99 of a search exceeds {soak.SEARCH_P99:.0f} s"] * (p99 > soak.SEARCH_P99) + ["the server ended"] * (server.poll() is not None)
    for problem in wrong:
        print(f"{name:36} WRONG {problem}")
    return not wrong


def main():
    program, home, *others = sys.argv[1:]
    seconds = int(others[0]) if others else 20
    names = [name for name in soak.ATTACKS if not others[1:] or others[1] in name]
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen([program, "--home", home, "serve", "--bind", f"127.0.0.1:{soak.PORT}"], stdout=log, stderr=log,
                                  env=os.environ | soak.SERVER_VARIABLES)
        try:
            soak.wait_until_up(server)
            time.sleep(1)
            own, with_workers, _ = soak.usage(server.pid)
            print(f"{CLIENTS} clients; memory before {with_workers:.0f} MB, of it the server {own:.0f} MB", flush=True)
            kept = [measure(server, name, seconds) for name in names if server.poll() is None]
            return 0 if all(kept) and server.poll() is None else 1
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    sys.exit(main())
