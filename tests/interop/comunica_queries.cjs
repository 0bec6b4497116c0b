// Evaluates queries over a file of Turtle by Comunica: one query in base64 a line of stdin, one result in base64 or `!` a line of stdout.
// usage: node comunica_queries.cjs FOLDER FILE   (FOLDER contains node_modules/)
const { readFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { QueryEngine } = createRequire(process.argv[2] + "/")("@comunica/query-sparql");

const term = ({ termType, value, language, datatype }) => {
  if (termType === "NamedNode") return { type: "uri", value };
  if (termType === "BlankNode") return { type: "bnode", value };
  return language ? { type: "literal", value, "xml:lang": language } : { type: "literal", value, datatype: datatype.value };
};

const evaluate = async (engine, query, sources) => {
  const { metadata, execute } = await engine.query(query, { sources });
  const variables = (await metadata()).variables.map((one) => (one.variable ?? one).value);
  const rows = await (await execute()).toArray();
  const bindings = rows.map((row) => Object.fromEntries([...row].map(([variable, value]) => [variable.value, term(value)])));
  return JSON.stringify({ head: { vars: variables }, results: { bindings } });
};

(async () => {
  const value = readFileSync(process.argv[3], "utf8");
  const sources = [{ type: "serialized", value, mediaType: "text/turtle", baseIRI: "http://example.org/" }];
  const engine = new QueryEngine();
  for (const line of readFileSync(0, "ascii").split("\n").filter(Boolean)) {
    const query = Buffer.from(line, "base64").toString();
    try {
      console.log(Buffer.from(await evaluate(engine, query, sources)).toString("base64"));
    } catch (error) {
      console.error(`${query}: ${error.message}`);
      console.log("!");
    }
  }
})();
