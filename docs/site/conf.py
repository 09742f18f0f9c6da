# The configuration of Sphinx; scripts/docs.sh runs it on the pages that stage.py has collected.
import os
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "docs/site"))

project = "Balm"
version = re.search(r"project\(balm\s+VERSION\s+([\d.]+)", (root / "CMakeLists.txt").read_text(), re.IGNORECASE)[1]
release = version
copyright = "The Balm contributors"

extensions = ["myst_parser", "reference"]
balm_root = str(root)
balm_xml = os.environ["BALM_DOCS_XML"]
myst_heading_anchors = 4
highlight_language = "text"

html_theme = "furo"
html_title = f"Balm {version}"
html_static_path = ["static"]
html_css_files = ["balm.css"]
html_show_sphinx = False
html_copy_source = False
