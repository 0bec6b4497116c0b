#!/usr/bin/env python3
"""Runs the command of a systemd unit in a root folder, without systemd, under the restrictions that the unit sets.

usage: unit.py ROOT UNIT     (as root; it becomes the command, so signals reach it)

Applied are the user, environment, working folder, UMask and file limits; NoNewPrivileges and the empty set of capabilities;
ProtectSystem=strict with StateDirectory, ProtectHome, PrivateTmp, PrivateDevices; MemoryDenyWriteExecute, RestrictAddressFamilies,
RestrictNamespaces and SystemCallFilter. Not applied: memory and task limits, and the Protect… options of the kernel.
"""

import ctypes
import os
import pwd
import resource
import shlex
import socket
import subprocess
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS = 0x20000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_SET_MDWE = 24, 38, 65
MDWE_REFUSE_EXEC_GAIN = 1
SCMP_ALLOW, SCMP_CMP_EQ = 0x7FFF0000, 4
EPERM = 1
DEVICES = ["null", "zero", "full", "random", "urandom", "tty"]


class Comparison(ctypes.Structure):
    """`struct scmp_arg_cmp` of libseccomp."""

    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("datum_a", ctypes.c_uint64), ("datum_b", ctypes.c_uint64)]


def read_unit(path):
    """Returns the values of the section Service by name. An empty value deletes those before it."""
    values, section = {}, None
    for line in map(str.strip, open(path)):
        if line.startswith("["):
            section = line
        elif section == "[Service]" and "=" in line and not line.startswith(("#", ";")):
            name, value = line.split("=", 1)
            values[name] = values.get(name, []) + [value] if value else []
    return values


def system_calls(name):
    """Returns the system calls of a set such as @system-service, or the one that is named."""
    if not name.startswith("@"):
        return {name}
    listed = subprocess.run(["systemd-analyze", "syscall-filter", name], check=True, stdout=subprocess.PIPE, text=True).stdout
    members = [line.strip() for line in listed.splitlines()[1:]]
    return set().union(*(system_calls(member) for member in members if member and not member.startswith("#")))


def allowed_calls(filters):
    allowed = system_calls("@default")
    for line in filters:
        calls = set().union(*(system_calls(name) for name in line.lstrip("~").split()))
        allowed = allowed - calls if line.startswith("~") else allowed | calls
    return allowed


def checked(name, result):
    if result < 0:
        raise OSError(ctypes.get_errno() or -result, f"{name} failed")
    return result


def mount(source, target, kind, flags):
    checked(f"mount {target}", LIBC.mount(source and source.encode(), target.encode(), kind and kind.encode(), flags, None))


def bind(source, target, flags=0):
    mount(source, target, None, MS_BIND | MS_REC)
    if flags:
        mount(None, target, None, MS_BIND | MS_REMOUNT | flags)


def isolate_files(root, unit):
    checked("unshare", LIBC.unshare(CLONE_NEWNS))
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    if unit.get("ProtectSystem") == ["strict"]:
        bind(root, root, MS_RDONLY)
    for folder in unit.get("StateDirectory", []):
        bind(f"{root}/var/lib/{folder}", f"{root}/var/lib/{folder}")
        mount(None, f"{root}/var/lib/{folder}", None, MS_BIND | MS_REMOUNT | MS_NOSUID)
    if unit.get("PrivateTmp") == ["yes"]:
        for folder in ["tmp", "var/tmp"]:
            mount("tmpfs", f"{root}/{folder}", "tmpfs", MS_NOSUID | MS_NODEV)
    if unit.get("ProtectHome") == ["yes"]:
        for folder in ["home", "root"]:
            mount("tmpfs", f"{root}/{folder}", "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV)
    bind("/proc", f"{root}/proc")
    bind("/sys", f"{root}/sys", MS_RDONLY)
    mount("tmpfs", f"{root}/dev", "tmpfs", MS_NOSUID)
    for device in DEVICES:
        open(f"{root}/dev/{device}", "w").close()
        bind(f"/dev/{device}", f"{root}/dev/{device}")


def filter_system_calls(calls, families):
    seccomp = ctypes.CDLL("libseccomp.so.2")
    seccomp.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(seccomp.seccomp_init(ctypes.c_uint32(0x00050000 | EPERM)))

    def allow(name, comparisons=()):
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:  # others do not exist on this processor
            array = (Comparison * len(comparisons))(*comparisons)
            allowed = seccomp.seccomp_rule_add_array(context, ctypes.c_uint32(SCMP_ALLOW), number, len(comparisons), array)
            checked(f"seccomp rule {name}", allowed)

    for name in sorted(calls - {"socket"}):
        allow(name)
    for family in families:
        allow("socket", [Comparison(0, SCMP_CMP_EQ, getattr(socket, family), 0)])
    checked("seccomp", seccomp.seccomp_load(context))


def prctl(option, value):
    return LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def main():
    root, path = sys.argv[1:]
    unit = read_unit(path)
    calls = allowed_calls(unit["SystemCallFilter"])
    if unit.get("RestrictNamespaces") == ["yes"]:
        calls -= {"unshare", "setns"}
    isolate_files(root, unit)
    os.chroot(root)
    user = pwd.getpwnam(unit["User"][0])
    os.chdir(unit.get("WorkingDirectory", ["/"])[0])
    os.umask(int(unit["UMask"][0], 8))
    limit = min(int(unit["LimitNOFILE"][0]), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    environment = {"PATH": "/usr/bin:/bin", "HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name}
    for line in unit.get("Environment", []):
        environment.update(one.split("=", 1) for one in shlex.split(line))
    for capability in range(64):
        prctl(PR_CAPBSET_DROP, capability)  # the highest ones do not exist
    os.setgroups([])
    os.setresgid(*[user.pw_gid] * 3)
    os.setresuid(*[user.pw_uid] * 3)
    checked("NoNewPrivileges", prctl(PR_SET_NO_NEW_PRIVS, 1))
    if unit.get("MemoryDenyWriteExecute") == ["yes"]:
        checked("MemoryDenyWriteExecute", prctl(PR_SET_MDWE, MDWE_REFUSE_EXEC_GAIN))
    command = shlex.split(unit["ExecStart"][0])
    filter_system_calls(calls, unit["RestrictAddressFamilies"][0].split())
    os.execve(command[0], command, environment)


if __name__ == "__main__":
    main()
