import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.AlreadyExistsException;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.NoSuchNamespaceException;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.rest.RESTCatalog;
import org.apache.iceberg.types.Types;

/**
 * Iceberg's Java client, which sends only what the server advertises: it works in a mount through {@code warehouse=prod},
 * where everything that the mount can do is offered, and reads through the tree.
 *
 * <pre>java -cp 'lib/*' JavaClient.java LAKE</pre>
 *
 * after seed.py. The last line printed is "java: all steps passed".
 */
public class JavaClient {
  public static void main(String[] args) throws Exception {
    writesThroughAMount(args[0]);
    readsTheTree(args[0]);
    System.out.println("java: all steps passed");
  }

  private static RESTCatalog open(String uri, String warehouse) {
    RESTCatalog catalog = new RESTCatalog();
    catalog.initialize(
        "lake", warehouse == null ? Map.of("uri", uri) : Map.of("uri", uri, "warehouse", warehouse));
    return catalog;
  }

  private static void writesThroughAMount(String uri) throws Exception {
    try (RESTCatalog prod = open(uri, "prod")) {
      Namespace space = Namespace.of("java", "inner + blank");
      prod.createNamespace(Namespace.of("java"), new HashMap<>(Map.of("made-by", "java")));
      prod.createNamespace(space);
      expect(prod.namespaceExists(space), "the namespace is there");
      expect(prod.loadNamespaceMetadata(Namespace.of("java")).get("made-by").equals("java"), "its property is there");
      expect(throwing(AlreadyExistsException.class, () -> prod.createNamespace(space)), "it is made once");

      TableIdentifier name = TableIdentifier.of(space, "orders of java");
      Schema schema =
          new Schema(
              Types.NestedField.required(1, "id", Types.LongType.get()),
              Types.NestedField.optional(2, "at", Types.TimestampType.withZone()),
              Types.NestedField.optional(3, "tags", Types.ListType.ofOptional(4, Types.StringType.get())));
      Table table =
          prod.createTable(name, schema, PartitionSpec.builderFor(schema).day("at").bucket("id", 4).build());
      expect(prod.tableExists(name), "the table is there");
      expect(throwing(AlreadyExistsException.class, () -> prod.createTable(name, schema)), "it is made once");

      table.updateProperties().set("note", "é").set("gone", "soon").commit();
      table.updateProperties().remove("gone").commit();
      table.updateSchema().addColumn("added", Types.DoubleType.get()).renameColumn("tags", "labels").commit();
      table.updateSpec().addField("added").commit();
      table.replaceSortOrder().asc("id").commit();

      Table stale = prod.loadTable(name);
      Table loaded = prod.loadTable(name);
      expect(loaded.properties().get("note").equals("é"), "the property was set");
      expect(!loaded.properties().containsKey("gone"), "the property was removed");
      expect(loaded.schema().findField("added") != null && loaded.schema().findField("labels.element") != null, "the schema changed");
      expect(loaded.specs().size() == 2 && loaded.spec().fields().size() == 3, "the partition spec changed");
      expect(loaded.sortOrder().fields().size() == 1, "the sort order changed");
      expect(loaded.currentSnapshot() == null, "nothing was written");
      expect(((HasTableOperations) loaded).operations().current().metadataFileLocation() != null, "there is a metadata file");

      loaded.updateSchema().addColumn("first", Types.IntegerType.get()).commit();
      expect(
          throwing(CommitFailedException.class, () -> stale.updateSchema().addColumn("second", Types.IntegerType.get()).commit()),
          "a commit that started from an old schema fails");
      expect(prod.loadTable(name).schema().findField("second") == null, "and changes nothing");

      Table staged = commitStaged(prod, TableIdentifier.of(space, "staged"), schema);
      expect(staged.properties().get("k").equals("v"), "a staged table was made by its commit");

      TableIdentifier renamed = TableIdentifier.of(Namespace.of("java"), "renamed");
      prod.renameTable(name, renamed);
      expect(!prod.tableExists(name) && prod.tableExists(renamed), "the table was renamed");
      List<TableIdentifier> listed = prod.listTables(Namespace.of("java"));
      expect(listed.equals(List.of(renamed)), "the listing has the new name: " + listed);
      expect(prod.dropTable(renamed, false), "the table was dropped");
      expect(!prod.dropTable(renamed, false), "and is gone");
      expect(throwing(NoSuchTableException.class, () -> prod.loadTable(renamed)), "and cannot be loaded");
      expect(throwing(NoSuchNamespaceException.class, () -> prod.createTable(TableIdentifier.of("nowhere", "t"), schema)), "a missing namespace");
      prod.dropTable(TableIdentifier.of(space, "staged"), false);
      expect(prod.dropNamespace(space) && prod.dropNamespace(Namespace.of("java")), "the namespaces were dropped");
    }
  }

  private static Table commitStaged(RESTCatalog catalog, TableIdentifier name, Schema schema) {
    var transaction = catalog.buildTable(name, schema).withProperty("k", "v").createTransaction();
    expect(!catalog.tableExists(name), "a staged table is not there before its commit");
    transaction.commitTransaction();
    return catalog.loadTable(name);
  }

  private static void readsTheTree(String uri) throws Exception {
    try (RESTCatalog tree = open(uri, null)) {
      TreeSet<String> root = new TreeSet<>();
      tree.listNamespaces().forEach(namespace -> root.add(namespace.toString()));
      expect(root.equals(new TreeSet<>(List.of("partner", "prod", "scratch", "sister"))), "the root: " + root);
      expect(tree.listNamespaces(Namespace.of("partner")).equals(List.of(Namespace.of("partner", "shared"))), "below partner");

      Table customers = tree.loadTable(TableIdentifier.of("partner", "shared", "customers"));
      expect(customers.schema().findField("name") != null, "the partner's table has its columns");
      expect(customers.currentSnapshot() != null, "the partner's table has rows");
      List<String> files = new ArrayList<>();
      try (var tasks = customers.newScan().planFiles()) {
        tasks.forEach(task -> files.add(task.file().location()));
      }
      expect(!files.isEmpty(), "the partner's files can be planned");
      expect(tree.tableExists(TableIdentifier.of("sister", "sales", "orders")), "the sister's table is there");
      expect(throwing(NoSuchTableException.class, () -> tree.loadTable(TableIdentifier.of("prod", "orders"))), "a mount's root holds no tables");
      // Engines probe such names for metadata tables.
      Table entries = tree.loadTable(TableIdentifier.of("prod", "sales", "orders", "snapshots"));
      expect(entries.schema().findField("committed_at") != null, "metadata tables work");
    }
  }

  private interface Action {
    void run() throws Exception;
  }

  private static boolean throwing(Class<? extends Exception> kind, Action action) {
    try {
      action.run();
    } catch (Exception failure) {
      if (kind.isInstance(failure)) {
        return true;
      }
      throw new AssertionError("expected " + kind.getSimpleName(), failure);
    }
    return false;
  }

  private static void expect(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
