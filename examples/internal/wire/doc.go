// Package wire speaks the Iceberg REST protocol of one catalog in raw HTTP, as a test needs it: it encodes names itself,
// hands out status, type and message of every answer, and walks listings page by page with the tokens in plain view. It
// trusts nothing: an answer that is not JSON, or an error whose code differs from the status, is an error.
//
//	lake := wire.New("http://127.0.0.1:8181", "")
//	lake.MustCreateNamespace(t, "prod", "sales")
//	names, pages, err := lake.ListTables(3, "prod", "sales")
//
// It is test support for the packages below examples and is not part of the server.
package wire
