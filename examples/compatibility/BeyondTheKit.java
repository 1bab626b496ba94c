package org.apache.iceberg.rest;

import org.apache.iceberg.catalog.Namespace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The tests that the compatibility kit has and leaves out, because the server that comes with it cannot pass them: the
 * kit's own class has them switched off without a property that would switch them on.
 *
 * <p>Only those are meant to be run, by name; the others are in the kit's class.
 */
public class BeyondTheKit extends RESTCompatibilityKitCatalogTests {
  @Override
  protected boolean supportsNestedNamespaces() {
    return true;
  }

  @Override
  protected boolean supportsNamesWithSlashes() {
    return true;
  }

  /** One of the tests leaves its namespace behind, and another one wants it to be absent. */
  @AfterEach
  void dropParent() {
    catalog().dropNamespace(Namespace.of("parent"));
  }

  @Test
  @Override
  public void createTableInUniqueLocation() {
    super.createTableInUniqueLocation();
  }
}
