#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/get_checkpoint against a hub and a storage server on the loopback address, which misbehave as told."""
import collections
import hashlib
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "get_checkpoint"
NAME = "Datadog/Toto-Open-Base-1.0"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
WEIGHTS = bytes(range(256)) * 12_000  # three reads
CONFIG = b'{"patch_size": 64}\n'


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def git_sha1(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.server.answer(self)

    do_GET = do_HEAD

    def reply(self, status, headers=(), body=b"", cut=None):
        """Sends a response, of whose body only `cut` bytes; then the connection is closed."""
        self.send_response(status)
        for name, value in dict({"Content-Length": str(len(body))}, **dict(headers)).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body[:cut])
        self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen = []  # method, path, headers of each request
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, request):
        self.seen.append((request.command, request.path, dict(request.headers)))
        self.respond(request)


class Storage(Server):
    """Holds the large files by their checksums, and sends parts of them."""

    def __init__(self):
        super().__init__()
        self.contents = {}
        self.drops = collections.deque()  # after how many bytes of the next responses the connection is closed
        self.ignores_ranges = False

    def respond(self, request):
        content = self.contents[request.path]
        begin = re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range", ""))
        cut = self.drops.popleft() if self.drops else None
        if begin and not self.ignores_ranges:
            first = int(begin[1])
            request.reply(206, {"Content-Range": f"bytes {first}-{len(content) - 1}/{len(content)}"},
                          content[first:], cut)
        else:
            request.reply(200, {}, content, cut)


class Hub(Server):
    """Holds small files, and describes and redirects large ones."""

    def __init__(self, storage):
        super().__init__()
        self.storage = storage
        self.small = {"config.json": CONFIG}
        self.large = {}
        self.token = None
        self.statuses = collections.deque()  # of the next responses, in place of what they would be
        self.location = None  # of all redirects, where it is set
        self.add_large("model.safetensors", WEIGHTS)

    def add_large(self, file, content, sent=None):
        self.large[file] = content
        self.storage.contents["/" + sha256(content)] = content if sent is None else sent

    def respond(self, request):
        if self.statuses:
            return request.reply(self.statuses.popleft(), {"X-Error-Message": "not \x1b[31mnow"})
        if self.token and request.headers.get("Authorization") != f"Bearer {self.token}":
            return request.reply(401)
        match = re.fullmatch(f"/{NAME}/resolve/(main|{COMMIT})/([^/]+)", request.path)
        file = match and match[2]
        if file in self.large:
            content = self.large[file]
            headers = {"X-Repo-Commit": COMMIT, "X-Linked-Etag": f'"{sha256(content)}"',
                       "X-Linked-Size": str(len(content)),
                       "Location": self.location or f"{self.storage.address}/{sha256(content)}"}
            return request.reply(302, headers, b"moved")
        if file in self.small:
            content = self.small[file]
            return request.reply(200, {"X-Repo-Commit": COMMIT, "ETag": f'W/"{git_sha1(content)}"'}, content)
        return request.reply(404)


class GetCheckpoint(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name) / "checkpoint"
        self.storage = Storage()
        self.hub = Hub(self.storage)
        for server in (self.hub, self.storage):
            self.addCleanup(server.server_close)
            self.addCleanup(server.shutdown)

    def run_tool(self, *arguments, name="toto-open-base-1.0", **environment):
        environment = {"PATH": os.environ["PATH"], "HF_ENDPOINT": self.hub.address, **environment}
        return subprocess.run([sys.executable, TOOL, name, self.folder, "--wait", "0", *arguments], env=environment,
                              capture_output=True, text=True, timeout=60)

    def succeed(self, *arguments, **environment):
        done = self.run_tool(*arguments, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / "config.json").read_bytes(), CONFIG)
        return done

    def fail_with(self, *words, status=1, arguments=(), **environment):
        done = self.run_tool(*arguments, **environment)
        self.assertEqual(done.returncode, status, done.stdout)
        self.assertNotIn("Traceback", done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual([path for path in self.names() if not path.startswith(".")], [], "no half checkpoint")
        return done

    def names(self):
        return sorted(path.name for path in self.folder.iterdir()) if self.folder.is_dir() else []

    def weights(self):
        return (self.folder / "model.safetensors").read_bytes()

    def ranges(self):
        return [headers.get("Range") for method, _, headers in self.storage.seen if method == "GET"]

    def test_both_files_and_nothing_else(self):
        done = self.succeed()
        self.assertEqual(self.weights(), WEIGHTS)
        self.assertEqual(self.names(), ["config.json", "model.safetensors"])
        self.assertIn(f"of {NAME} at {COMMIT}", done.stdout)
        # What is there is not downloaded again; what is damaged is.
        self.storage.seen.clear()
        self.succeed(name=NAME)
        self.assertEqual(self.storage.seen, [])
        (self.folder / "model.safetensors").write_bytes(WEIGHTS[:-1] + b"?")
        self.succeed()
        self.assertEqual(self.weights(), WEIGHTS)

    def test_short_names_stand_for_models_of_the_hub(self):
        for size in ("4m", "22m", "313m", "1B", "2.5B"):  # this hub has none of them, and its answer names what it lacks
            self.fail_with(f"Datadog/Toto-2.0-{size}", name=f"toto-2.0-{size.lower()}")

    def test_connections_that_drop_are_taken_up_where_they_ended(self):
        self.storage.drops.extend([1_500_000, 0, 700_000])
        self.succeed()
        self.assertEqual(self.weights(), WEIGHTS)
        self.assertEqual(self.ranges(), [None, "bytes=1500000-", "bytes=1500000-", "bytes=2200000-"])

    def test_a_run_that_gave_up_is_gone_on_with_by_the_next(self):
        self.storage.drops.extend([2_000_000, 0, 0, 0])
        self.fail_with("run this again to go on", "1.9 MiB of 2.9 MiB", arguments=("--attempts", "3"))
        self.storage.drops.clear()
        self.storage.seen.clear()
        self.succeed()
        self.assertEqual(self.weights(), WEIGHTS)
        self.assertEqual(self.ranges(), ["bytes=2000000-"])

    def test_a_server_that_knows_no_ranges_sends_all_again(self):
        self.storage.ignores_ranges = True
        self.storage.drops.append(1_000_000)
        self.succeed()
        self.assertEqual(self.weights(), WEIGHTS)

    def test_a_part_that_was_damaged_on_disk_is_fetched_again(self):
        self.storage.drops.extend([2_000_000, 0])
        self.fail_with("go on", arguments=("--attempts", "1"))
        (part,) = [path for path in self.folder.iterdir() if "safetensors" in path.name]
        part.write_bytes(b"?" * 2_000_000)
        self.storage.drops.clear()
        self.succeed()
        self.assertEqual(self.weights(), WEIGHTS)

    def test_wrong_bytes_are_refused_and_deleted(self):
        self.hub.add_large("model.safetensors", WEIGHTS, sent=WEIGHTS[:-1] + b"?")
        self.fail_with("model.safetensors", "SHA-256", sha256(WEIGHTS), "deleted")
        self.assertEqual([name for name in self.names() if "safetensors" in name], [])

    def test_more_bytes_than_announced_are_refused(self):
        self.hub.add_large("model.safetensors", WEIGHTS, sent=WEIGHTS * 2)
        self.fail_with("sends more than the 3072000 bytes")

    def test_the_token_goes_to_the_hub_alone(self):
        self.hub.token = "hf_secret"
        self.fail_with("asks for a token", "HF_TOKEN")
        self.fail_with("with this HF_TOKEN", HF_TOKEN="hf_other")
        self.succeed(HF_TOKEN="hf_secret")
        self.assertEqual(self.weights(), WEIGHTS)
        self.assertTrue(self.storage.seen)
        for _, _, headers in self.storage.seen:
            self.assertNotIn("Authorization", headers)

    def test_statuses_of_the_hub(self):
        self.fail_with("holds neither model.safetensors", "is no such model", name="Datadog/Totto")
        self.hub.statuses.append(403)
        self.fail_with("may not be read", "It says: not ?[31mnow")
        self.hub.statuses.extend([503, 429])
        self.succeed()
        self.hub.statuses.extend([503] * 6)
        self.folder = self.folder / "other"
        self.fail_with("status 503", "again")

    def test_what_cannot_be_checked_is_not_downloaded(self):
        self.hub.small["model.safetensors"] = self.hub.large.pop("model.safetensors")
        self.hub.respond = lambda request: request.reply(200, {}, WEIGHTS)
        self.fail_with("without a size or a checksum")

    def test_no_plain_connection_to_another_machine(self):
        for wrong in ("http://hub.example", "hub.example", "https://", "http://127.0.0.1:port", "ftp://127.0.0.1"):
            self.fail_with("HF_ENDPOINT is", "https://", HF_ENDPOINT=wrong)
        self.fail_with("HF_TOKEN holds", HF_TOKEN="hf\nsecret")
        self.hub.location = "http://storage.example/weights"
        self.fail_with("points to", "https://")
        self.hub.location = f"{self.hub.address}/{NAME}/resolve/main/model.safetensors"
        self.fail_with("redirected more than")

    def test_a_hub_that_is_not_there(self):
        self.fail_with("cannot be reached", HF_ENDPOINT="http://127.0.0.1:1")
        self.fail_with("no name of a model", status=2, name="../etc")

    def test_shards(self):
        del self.hub.large["model.safetensors"]
        shards = {"model-1.safetensors": b"first" * 1000, "model-2.safetensors": b"second" * 1000}
        index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
        self.hub.small["model.safetensors.index.json"] = json.dumps(index).encode()
        self.hub.add_large("model-1.safetensors", shards["model-1.safetensors"])
        self.fail_with("has no model-2.safetensors")
        self.hub.add_large("model-2.safetensors", shards["model-2.safetensors"])
        self.succeed()
        for name, content in shards.items():
            self.assertEqual((self.folder / name).read_bytes(), content)
        self.assertEqual(self.names(), ["config.json", *sorted(shards), "model.safetensors.index.json"])
        self.folder = self.folder / "hostile"
        self.hub.small["model.safetensors.index.json"] = b'{"weight_map": {"a": "../../up.safetensors"}}'
        self.fail_with("names no safetensors files beside it")

    def test_two_at_once(self):
        import fcntl
        self.folder.mkdir()
        part = self.folder / f".config.json.{git_sha1(CONFIG)[:16]}.part"
        with open(part, "wb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            self.fail_with("Another process is downloading")
        self.succeed()


if __name__ == "__main__":
    unittest.main()
