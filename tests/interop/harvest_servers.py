"""Servers of catalogues for the tests of `harvest`, each on the loopback interface, with the packages of one folder in PYTHONPATH.

usage: harvest_servers.py NAME RECORDS PORT ADDRESS

NAME is pycsw, oaipmh, oai_repo or pygeoapi. RECORDS is a JSON file with the records; oaipmh, oai_repo and pygeoapi read it at each
request. ADDRESS is the one under which clients reach the server.
"""

import datetime
import html
import json
import os
import pathlib
import sys
import tempfile
import urllib.parse
import wsgiref.simple_server

PAGE = 50
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
DC = "http://www.openarchives.org/OAI/2.0/oai_dc/"


def moment(record):
    return datetime.datetime.fromisoformat(record["modified"].removesuffix("Z"))


def iso_19139(record):
    """Returns the record in ISO 19139."""
    def text(value):
        return f"<gco:CharacterString>{html.escape(value)}</gco:CharacterString>"

    lists = "http://standards.iso.org/iso/19139/resources/gmxCodelists.xml"
    return f"""<gmd:MD_Metadata xmlns:gmd="http://www.isotc211.org/2005/gmd" xmlns:gco="http://www.isotc211.org/2005/gco">
<gmd:fileIdentifier>{text(record["id"])}</gmd:fileIdentifier>
<gmd:language><gmd:LanguageCode codeList="http://www.loc.gov/standards/iso639-2/" codeListValue="eng">eng</gmd:LanguageCode></gmd:language>
<gmd:hierarchyLevel><gmd:MD_ScopeCode codeList="{lists}#MD_ScopeCode" codeListValue="dataset">dataset</gmd:MD_ScopeCode></gmd:hierarchyLevel>
<gmd:contact/><gmd:dateStamp><gco:DateTime>{record["modified"]}</gco:DateTime></gmd:dateStamp>
<gmd:identificationInfo><gmd:MD_DataIdentification><gmd:citation><gmd:CI_Citation><gmd:title>{text(record["title"])}</gmd:title>
<gmd:date><gmd:CI_Date><gmd:date><gco:Date>2020-01-01</gco:Date></gmd:date><gmd:dateType><gmd:CI_DateTypeCode codeList="{lists}#CI_DateTypeCode"
codeListValue="publication">publication</gmd:CI_DateTypeCode></gmd:dateType></gmd:CI_Date></gmd:date></gmd:CI_Citation></gmd:citation>
<gmd:abstract>{text(record["description"])}</gmd:abstract>
<gmd:descriptiveKeywords><gmd:MD_Keywords><gmd:keyword>{text(record["keyword"])}</gmd:keyword></gmd:MD_Keywords></gmd:descriptiveKeywords>
</gmd:MD_DataIdentification></gmd:identificationInfo>
<gmd:distributionInfo><gmd:MD_Distribution><gmd:transferOptions><gmd:MD_DigitalTransferOptions><gmd:onLine><gmd:CI_OnlineResource>
<gmd:linkage><gmd:URL>{record["file"]}</gmd:URL></gmd:linkage><gmd:protocol>{text("WWW:DOWNLOAD-1.0-http--download")}</gmd:protocol>
<gmd:function><gmd:CI_OnLineFunctionCode codeList="{lists}#CI_OnLineFunctionCode" codeListValue="download">download</gmd:CI_OnLineFunctionCode>
</gmd:function></gmd:CI_OnlineResource></gmd:onLine></gmd:MD_DigitalTransferOptions></gmd:transferOptions></gmd:MD_Distribution></gmd:distributionInfo>
</gmd:MD_Metadata>"""


def pycsw(read, port, address):
    """A service over a database of the records, which is filled at the start. The document of a broken record is cut."""
    from pycsw.core import admin, config

    folder = pathlib.Path(tempfile.mkdtemp(prefix="lodeseek-pycsw-"))
    (folder / "records").mkdir()
    broken = []
    for number, record in enumerate(record for record in read() if not record.get("deleted")):
        (folder / "records" / f"{number}.xml").write_text(iso_19139(record))
        if record.get("broken"):
            broken.append(record["id"])
    settings = folder / "pycsw.cfg"
    settings.write_text(f"""[server]
home={folder}
url={address}
mimetype=application/xml; charset=UTF-8
encoding=UTF-8
language=en-US
maxrecords={PAGE}
profiles=apiso
[manager]
transactions=false
[metadata:main]
identification_title=Ferries
identification_abstract=Ferries of the harbours
identification_keywords=ferries
identification_keywords_type=theme
identification_fees=None
identification_accessconstraints=None
provider_name=Harbour office
provider_url=http://harbour.example/
contact_name=Harbour office
contact_position=Clerk
contact_address=Quay 1
contact_city=Harbour
contact_stateorprovince=Coast
contact_postalcode=1000
contact_country=Nowhere
contact_phone=1
contact_fax=2
contact_email=ferries@harbour.example
contact_url=http://harbour.example/
contact_hours=8-16
contact_instructions=None
contact_role=pointOfContact
[metadata:inspire]
enabled=false
[repository]
database=sqlite:///{folder}/records.db
table=records
""")
    context = config.StaticContext()
    database = f"sqlite:///{folder}/records.db"
    admin.setup_db(database, "records", str(folder))
    admin.load_records(context, database, "records", str(folder / "records"))
    if broken:
        import sqlite3
        with sqlite3.connect(folder / "records.db") as rows:
            for identifier in broken:
                rows.execute("UPDATE records SET xml = substr(xml, 1, length(xml) / 2) WHERE identifier = ?", [identifier])
    os.environ["PYCSW_CONFIG"] = str(settings)
    from pycsw import wsgi
    serve(port, wsgi.application)


def oaipmh(read, port, address):
    """A repository in RDF that keeps deleted records. The description of a broken record is empty."""
    from lxml import etree
    from oaipmh import common, error, metadata, server

    class Repository:
        def identify(self):
            return common.Identify("Ferries", address, "2.0", ["ferries@harbour.example"], datetime.datetime(2020, 1, 1), "persistent",
                                   "YYYY-MM-DDThh:mm:ssZ", ["identity"])

        def listMetadataFormats(self, identifier=None):
            return [("dcat", f"{address}/dcat.xsd", "http://www.w3.org/ns/dcat#")]

        def listSets(self):
            raise error.NoSetHierarchyError("no sets")

        def listRecords(self, metadataPrefix, from_=None, until=None, set=None):
            if metadataPrefix != "dcat":
                raise error.CannotDisseminateFormatError(metadataPrefix)
            for record in read():
                if from_ is None or moment(record) >= from_:
                    header = common.Header(None, f"oai:harbour.example:{record['id']}", moment(record), [], record.get("deleted", False))
                    yield header, common.Metadata(None, record), None

    def write(element, written):
        record = written.getMap()
        if record.get("broken"):
            element.append(etree.Element(f"{{{RDF}}}RDF"))
            return
        element.append(etree.fromstring(f"""<rdf:RDF xmlns:rdf="{RDF}" xmlns:dcat="http://www.w3.org/ns/dcat#" xmlns:dct="http://purl.org/dc/terms/">
<dcat:Dataset rdf:about="http://harbour.example/{record["id"]}"><dct:identifier>{record["id"]}</dct:identifier>
<dct:title xml:lang="en">{html.escape(record["title"])}</dct:title><dct:description xml:lang="en">{html.escape(record["description"])}</dct:description>
<dcat:keyword xml:lang="en">{record["keyword"]}</dcat:keyword><dcat:distribution><dcat:Distribution><dcat:accessURL rdf:resource="{record["file"]}"/>
<dcat:downloadURL rdf:resource="{record["file"]}"/></dcat:Distribution></dcat:distribution></dcat:Dataset></rdf:RDF>"""))

    registry = metadata.MetadataRegistry()
    registry.registerWriter("dcat", write)
    repository = server.Server(Repository(), registry, resumption_batch_size=PAGE)
    serve(port, application(lambda query: (repository.handleRequest(query), "text/xml")))


def oai_repo(read, port, address):
    """A repository in Dublin Core that forgets deleted records. A broken record has an empty description."""
    import oai_repo as package
    from lxml import etree

    def present():
        return [record for record in read() if not record.get("deleted")]

    class Data(package.DataInterface):
        limit = PAGE

        def get_identify(self):
            return package.Identify(base_url=address, repository_name="Ferries", admin_email=["ferries@harbour.example"], deleted_record="no",
                                    granularity="YYYY-MM-DDThh:mm:ssZ", earliest_datestamp="2020-01-01T00:00:00Z")

        def is_valid_identifier(self, identifier):
            return any(record["id"] == identifier for record in present())

        def get_metadata_formats(self, identifier=None):
            return [package.MetadataFormat("oai_dc", "http://www.openarchives.org/OAI/2.0/oai_dc.xsd", DC)]

        def get_record_header(self, identifier):
            record = next(record for record in present() if record["id"] == identifier)
            return package.RecordHeader(identifier=identifier, datestamp=moment(record), setspecs=[])

        def get_record_metadata(self, identifier, metadataprefix):
            record = next(record for record in present() if record["id"] == identifier)
            values = [] if record.get("broken") else [
                ("title", record["title"]), ("description", record["description"]), ("subject", record["keyword"]), ("type", "Dataset"),
                ("identifier", f"http://harbour.example/{identifier}"), ("identifier", record["file"])]
            elements = "".join(f"<dc:{name}>{html.escape(value)}</dc:{name}>" for name, value in values)
            return etree.fromstring(f'<oai_dc:dc xmlns:oai_dc="{DC}" xmlns:dc="http://purl.org/dc/elements/1.1/">{elements}</oai_dc:dc>')

        def get_record_abouts(self, identifier):
            return []

        def list_identifiers(self, metadataprefix, filter_from=None, filter_until=None, filter_set=None, cursor=0):
            found = [record["id"] for record in present()
                     if filter_from is None or moment(record) >= filter_from.replace(tzinfo=None)]
            return found[cursor:cursor + PAGE], len(found), None

    repository = package.OAIRepository(Data())
    serve(port, application(lambda query: (bytes(repository.process(query)), "text/xml")))


def pygeoapi(read, port, address):
    """A catalogue of records in GeoJSON. A broken record has no properties."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lodeseek-pygeoapi-"))

    def geojson(record):
        properties = {"type": "dataset", "title": record["title"], "description": record["description"], "keywords": [record["keyword"]],
                      "created": "2020-01-01T00:00:00Z", "updated": record["modified"]}
        return {"id": record["id"], "type": "Feature", "conformsTo": ["http://www.opengis.net/spec/ogcapi-records-1/1.0/req/record-core"],
                "geometry": None, "time": None, "properties": {} if record.get("broken") else properties,
                "links": [{"rel": "enclosure", "type": "text/csv", "href": record["file"]}]}

    database = folder / "records.json"
    settings = {
        "server": {"bind": {"host": "127.0.0.1", "port": port}, "url": address, "mimetype": "application/json; charset=UTF-8",
                   "encoding": "utf-8", "languages": ["en-US"], "limits": {"default_items": PAGE, "max_items": PAGE},
                   "map": {"url": "http://harbour.example/{z}/{x}/{y}", "attribution": "none"}},
        "logging": {"level": "ERROR"},
        "metadata": {"identification": {"title": "Ferries", "description": "Ferries", "keywords": ["ferries"], "keywords_type": "theme",
                                        "terms_of_service": "none", "url": "http://harbour.example/"},
                     "license": {"name": "none", "url": "http://harbour.example/licence"},
                     "provider": {"name": "Harbour office", "url": "http://harbour.example/"},
                     "contact": {"name": "Harbour office", "email": "ferries@harbour.example"}},
        "resources": {"ferries": {
            "type": "collection", "title": "Ferries", "description": "Ferries", "keywords": ["ferries"],
            "extents": {"spatial": {"bbox": [-180, -90, 180, 90], "crs": "http://www.opengis.net/def/crs/OGC/1.3/CRS84"}}, "links": [],
            "providers": [{"type": "record", "name": "TinyDBCatalogue", "data": str(database), "id_field": "externalId",
                           "time_field": "updated", "title_field": "title"}]}}}
    (folder / "pygeoapi.yml").write_text(json.dumps(settings))
    os.environ.update(PYGEOAPI_CONFIG=str(folder / "pygeoapi.yml"), PYGEOAPI_OPENAPI=str(folder / "openapi.yml"))

    def write():
        rows = {str(number): geojson(record) for number, record in enumerate(read(), 1) if not record.get("deleted")}
        database.write_text(json.dumps({"_default": rows}))

    write()
    from pygeoapi.openapi import generate_openapi_document
    (folder / "openapi.yml").write_text(generate_openapi_document(folder / "pygeoapi.yml", "yaml"))
    from pygeoapi.flask_app import APP

    def answer(environment, start):
        write()
        return APP(environment, start)

    serve(port, answer)


def application(respond):
    """Returns a WSGI application; `respond` makes a body and its type of the parameters of a request."""
    def answer(environment, start):
        body, media_type = respond(dict(urllib.parse.parse_qsl(environment["QUERY_STRING"], keep_blank_values=True)))
        start("200 OK", [("Content-Type", media_type), ("Content-Length", str(len(body)))])
        return [body]

    return answer


class Silent(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *_):
        pass


def serve(port, answer):
    wsgiref.simple_server.make_server("127.0.0.1", port, answer, handler_class=Silent).serve_forever()


def main():
    name, records, port, address = sys.argv[1:]
    makers = {"pycsw": pycsw, "oaipmh": oaipmh, "oai_repo": oai_repo, "pygeoapi": pygeoapi}
    makers[name](lambda: json.loads(pathlib.Path(records).read_text()), int(port), address)


if __name__ == "__main__":
    main()
