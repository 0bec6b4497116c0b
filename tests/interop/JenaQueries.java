import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Scanner;
import org.apache.jena.query.Query;
import org.apache.jena.query.QueryExecution;
import org.apache.jena.query.QueryExecutionFactory;
import org.apache.jena.query.QueryFactory;
import org.apache.jena.query.ResultSetFormatter;
import org.apache.jena.rdf.model.Model;
import org.apache.jena.rdf.model.ModelFactory;

/** Evaluates queries over a file of Turtle by Jena ARQ: one query in base64 a line of stdin, one result in base64 or `!` a line of stdout. */
class JenaQueries {
    public static void main(String[] arguments) {
        Model model = ModelFactory.createDefaultModel().read(arguments[0], "TTL");
        Scanner lines = new Scanner(System.in, StandardCharsets.US_ASCII);
        while (lines.hasNextLine()) {
            String text = new String(Base64.getDecoder().decode(lines.nextLine()), StandardCharsets.UTF_8);
            String result = "!";
            try {
                Query query = QueryFactory.create(text);
                try (QueryExecution execution = QueryExecutionFactory.create(query, model)) {
                    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                    ResultSetFormatter.outputAsJSON(bytes, execution.execSelect());
                    result = Base64.getEncoder().encodeToString(bytes.toByteArray());
                }
            } catch (RuntimeException error) {
                System.err.println(text + ": " + error.getMessage());
            }
            System.out.println(result);
        }
    }
}
