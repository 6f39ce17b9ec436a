"""What tests of the viewer's kernel pages have in common: reports made of texts, and a script of tests/web that opens them in Chromium."""
import json
import shutil

from harness import *

WEB = os.path.join(SRC, "tests", "web")
SECTIONS = os.path.join(SRC, "share", "sections")
ARTEFACTS = os.path.join(BUILD, "test-artefacts", "view")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NODE = shutil.which("node")


def make(name, text):
    source, path = os.path.join(WORK, name + ".txt"), report_path(name)
    with open(source, "w", encoding="utf-8") as f:
        f.write(text)
    subprocess.run([program("make_report"), source, path], check=True)
    return path


def drive(name, script, path):
    """A line for each check comes from the script itself, at once, so that one sees how far it came; its end is one more, unless something failed or the browser did not start.
    How long it may take is the test's limit."""
    told = False
    with subprocess.Popen([NODE, os.path.join(WEB, script), path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        for line in run.stdout:
            print(line, end="", flush=True)
            told |= line.startswith(("not ok ", "skip "))
    if not told:
        check(name, run.returncode, 0)


def page(script, values):
    missing = ", ".join(name for name, there in (("node", NODE), ("chromium", CHROMIUM), ("npm's packages in tests/web", os.path.isdir(os.path.join(WEB, "node_modules", "playwright-core")))) if not there)
    if missing:
        return skip("the page", "missing: " + missing)
    path = os.path.join(WORK, "configuration.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"sonde": SONDE, "chromium": CHROMIUM, "artefacts": ARTEFACTS, "webFolder": os.environ.get("WEB_FOLDER"), "work": WORK, **values}, f)
    drive("the page in Chromium", script, path)
    return None
