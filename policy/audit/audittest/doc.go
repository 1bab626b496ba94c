// Package audittest reads audit trails, for tests that compare them with what was
// done.
//
//	lines, torn, err := audittest.Read(path)
//	permitted := audittest.Permitted(lines)["prod"] // request ids
//
// Layer: beside policy/audit; for test files alone.
package audittest
