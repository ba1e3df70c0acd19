import java.io.FileInputStream;
import java.util.TreeMap;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.flavours.PDFAFlavour;
import org.verapdf.pdfa.results.TestAssertion;

/** Prints the rules of PDF/UA-1 that the files break, each with how often and where first. Exit code 1 if there are any. */
public class Validate {
  public static void main(String[] paths) throws Exception {
    VeraGreenfieldFoundryProvider.initialise();
    var foundry = Foundries.defaultInstance();
    var isBroken = false;
    for (var path : paths) {
      try (var parser = foundry.createParser(new FileInputStream(path), PDFAFlavour.PDFUA_1);
          var validator = foundry.createValidator(PDFAFlavour.PDFUA_1, false)) {
        var broken = new TreeMap<String, Integer>();
        for (var assertion : validator.validate(parser).getTestAssertions()) {
          if (assertion.getStatus() != TestAssertion.Status.FAILED) continue;
          var rule = assertion.getRuleId();
          var text = rule.getClause() + "-" + rule.getTestNumber() + " " + assertion.getMessage();
          if (broken.merge(text, 1, Integer::sum) == 1) System.out.println(path + ": " + text + " at " + assertion.getLocation().getContext());
        }
        isBroken |= !broken.isEmpty();
      }
    }
    System.exit(isBroken ? 1 : 0);
  }
}
