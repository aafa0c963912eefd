"""The documents as an mdBook: see scripts/site. `lay_out` copies them, in the order of CHAPTERS; `check` follows every link of the site."""

import html.parser
import json
import re
import shutil
import sys
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# What a reader wants to do, and the pages about it, in the order in which they are read.
CHAPTERS = {
    "Begin": ["README.md", "docs/installing.md", "docs/platforms.md", "docs/offline.md", "docs/coming-from.md"],
    "Measure": ["docs/running.md", "docs/models.md", "docs/backends.md", "docs/audit.md", "docs/performance.md", "docs/serving.md", "docs/endpoint.md", "docs/fleet.md"],
    "Read results": ["docs/results.md", "docs/reports.md", "docs/statistics.md", "docs/glossary.md"],
    "Choose hardware": ["docs/matrix.md", "docs/prediction.md"],
    "Find what got slower": ["docs/ci.md", "docs/schedules.md", "docs/trends.md"],
    "Write a plugin": [
        "docs/plugins.md", "host/kit/README.md", "docs/contract.md", "plugin-api/CHANGELOG.md", "docs/rules.md", "docs/validator.md",
        "host/worker/ladder/README.md", "docs/skills.md", "docs/registry.md", "docs/packages.md",
    ],
    "Look inside": ["docs/architecture.md", "docs/security.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"],
}  # fmt: skip
# Of a link: its address. Images are links, too.
LINK = re.compile(r"\]\(([^)\s]+)\)")


def title(page: Path) -> str:
    return next(line[2:].strip() for line in page.read_text().splitlines() if line.startswith("# "))


def targets(page: Path):
    """The files of the project that a page leads to."""
    for address in LINK.findall(page.read_text()):
        path = urllib.parse.unquote(address.split("#")[0])
        if path and "://" not in path and not path.startswith("mailto:"):
            yield (page.parent / path).resolve()


def lay_out(book: Path):
    pages = [page for chapter in CHAPTERS.values() for page in chapter]
    left_out = sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").glob("*.md") if str(page.relative_to(ROOT)) not in pages)
    if left_out:
        sys.exit(f"scripts/packaging/site.py has no chapter for {', '.join(left_out)}")
    dead = [f"{page}: {target.relative_to(ROOT)}" for page in pages for target in targets(ROOT / page) if not target.exists()]
    if dead:
        sys.exit("links that lead nowhere:\n" + "\n".join(dead))
    source = book / "src"
    for page in pages:
        (source / page).parent.mkdir(parents=True, exist_ok=True)
        # mdBook makes the index of its folder of a README, and leaves links to it as they were.
        (source / page).write_text(LINK.sub(lambda link: link[0].replace("README.md", "index.md"), (ROOT / page).read_text()))
    # Files that pages lead to, but that are no pages, lie beside them as they are.
    for page in pages:
        for target in targets(ROOT / page):
            place = source / target.relative_to(ROOT)
            if target.is_file() and not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(target, place)
    summary = ["# Summary", ""]
    for chapter, members in CHAPTERS.items():
        summary += [f"# {chapter}", ""] + [f"- [{title(ROOT / page)}]({page})" for page in members] + [""]
    (source / "SUMMARY.md").write_text("\n".join(summary))
    (book / "book.toml").write_text('[book]\ntitle = "skillbench"\nlanguage = "en"\n\n[output.html]\nno-section-label = true\n')


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.to, self.names = [], set()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.names.update(attributes[name] for name in ("id", "name") if attributes.get(name))
        for name in ("href", "src"):
            if attributes.get(name):
                self.to.append(attributes[name])


def read(page: Path) -> Links:
    links = Links()
    links.feed(page.read_text())
    return links


def check(site: Path):
    pages = {page: read(page) for page in site.rglob("*.html") if page.name not in ("print.html", "toc.html", "404.html")}
    dead = []
    for page, links in pages.items():
        for to in links.to:
            address = urllib.parse.urlsplit(to)
            if address.scheme or address.netloc:
                continue
            target = (page.parent / urllib.parse.unquote(address.path)).resolve() if address.path else page
            # A folder of the sources is not on the site.
            if not target.exists():
                dead.append(f"{page.relative_to(site)}: {to}")
            elif address.fragment and target in pages and urllib.parse.unquote(address.fragment) not in pages[target].names:
                dead.append(f"{page.relative_to(site)}: {to} (no such heading)")
    if dead:
        sys.exit("links that lead nowhere:\n" + "\n".join(sorted(set(dead))))
    print(json.dumps({"pages": len(pages), "links": sum(len(links.to) for links in pages.values())}))


if sys.argv[1] == "--check":
    check(Path(sys.argv[2]).resolve())
else:
    lay_out(Path(sys.argv[1]))
