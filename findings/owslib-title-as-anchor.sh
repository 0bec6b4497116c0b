#!/usr/bin/env bash
# OWSLib 0.35.0: ISO 19139 allows a gmx:Anchor, a text with a link, wherever it allows a gco:CharacterString, which it can replace. OWSLib
# reads the anchor of an abstract, and not that of a title. Seen: such a title is None, and of several alternative titles only the first
# is there. A harvester that uses it has datasets without titles, from valid records.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" -q --disable-pip-version-check install OWSLib==0.35.0
"$folder/bin/python" -W ignore - <<'PYTHON'
from owslib.etree import etree
from owslib.iso import MD_Metadata

def anchor(text):
    return f'<gmx:Anchor xlink:href="http://example.org/term">{text}</gmx:Anchor>'

def plain(text):
    return f"<gco:CharacterString>{text}</gco:CharacterString>"

def identification(title, abstract):
    record = etree.fromstring(f"""<gmd:MD_Metadata xmlns:gmd="http://www.isotc211.org/2005/gmd" xmlns:gco="http://www.isotc211.org/2005/gco"
      xmlns:gmx="http://www.isotc211.org/2005/gmx" xmlns:xlink="http://www.w3.org/1999/xlink"><gmd:identificationInfo><gmd:MD_DataIdentification>
      <gmd:citation><gmd:CI_Citation><gmd:title>{title}</gmd:title><gmd:alternateTitle>{plain("Streams")}</gmd:alternateTitle>
      <gmd:alternateTitle>{plain("Brooks")}</gmd:alternateTitle></gmd:CI_Citation></gmd:citation><gmd:abstract>{abstract}</gmd:abstract>
      </gmd:MD_DataIdentification></gmd:identificationInfo></gmd:MD_Metadata>""")
    [found] = MD_Metadata(record).identification
    return found.title, found.alternatetitle, found.abstract

texts = identification(plain("Rivers"), plain("All rivers"))
anchors = identification(anchor("Rivers"), anchor("All rivers"))
print(f"title, alternative title, abstract as texts: {texts}; as anchors: {anchors}")
assert texts == ("Rivers", "Streams", "All rivers"), "the behaviour changed"
assert anchors == (None, "Streams", "All rivers"), "the behaviour changed"
PYTHON
