package sign

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDeletes is how many objects one request of S3 deletes.
const maxDeletes = 1000

// s3Namespace is that of S3's documents.
const s3Namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

// readDeletes reads the keys of a DeleteObjects body. It takes the documents that
// clients write and no others, since the store reads it with another parser:
// nothing in a document type, no processing instructions, comments, prefixes,
// attributes, CDATA, elements of other names or in other places, or versions.
func readDeletes(body string) ([]string, error) {
	malformed := func(what string) ([]string, error) { return nil, bad("has a body that %s", what) }
	if len(body) > maxBody || !utf8.ValidString(body) || strings.Contains(body, "<!") {
		return malformed("is no plain XML document of a deletion")
	}
	d := xml.NewDecoder(strings.NewReader(body))
	var keys []string
	var path []string
	var keyText strings.Builder
	quiet, seen, hasKey := 0, false, false
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return malformed("is no plain XML document of a deletion")
		}
		at := strings.Join(path, "/")
		switch token := token.(type) {
		case xml.ProcInst:
			if token.Target != "xml" || seen || at != "" || !declares(string(token.Inst)) {
				return malformed("has processing instructions")
			}
		case xml.StartElement:
			name := token.Name.Local
			if token.Name.Space != "" || !attributes(token.Attr, at == "") {
				return malformed("has prefixes or attributes")
			}
			switch {
			case at == "" && name == "Delete" && !seen:
				seen = true
			case at == "Delete" && name == "Quiet" && quiet == 0:
				quiet++
			case at == "Delete" && name == "Object":
				hasKey = false
			case at == "Delete/Object" && name == "Key" && !hasKey:
				hasKey = true
				keyText.Reset()
			case at == "Delete/Object" && name == "VersionId":
				return nil, forbid("that deletes versions of objects")
			default:
				return malformed("has the element " + quoted(name) + " where there is none in a deletion")
			}
			path = append(path, name)
		case xml.EndElement:
			if len(path) == 0 || token.Name.Space != "" || token.Name.Local != path[len(path)-1] {
				return malformed("is no plain XML document of a deletion")
			}
			path = path[:len(path)-1]
			switch at {
			case "Delete/Object/Key":
				keys = append(keys, keyText.String())
			case "Delete/Object":
				if !hasKey {
					return malformed("has an object without a key")
				}
			}
			if len(keys) > maxDeletes {
				return nil, bad("deletes more than %d objects", maxDeletes)
			}
		case xml.CharData:
			switch text := string(token); {
			case at == "Delete/Object/Key":
				keyText.WriteString(text)
			case at == "Delete/Quiet":
				if text != "true" && text != "false" {
					return malformed("says neither true nor false of Quiet")
				}
			case strings.Trim(text, " \t\r\n") != "":
				return malformed("has text between its elements")
			}
		default:
			return malformed("is no plain XML document of a deletion")
		}
	}
	if len(path) > 0 || !seen || len(keys) == 0 {
		return malformed("is no deletion of objects, or not a whole one")
	}
	for _, key := range keys {
		if err := checkKey(key); err != nil {
			return nil, err
		}
		if key != strings.TrimFunc(key, unicode.IsSpace) {
			return malformed("has a key with blanks around it, which some readers drop")
		}
	}
	return keys, nil
}

// declares reports an XML declaration that says nothing unusual.
func declares(inst string) bool {
	inst = strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(inst, "'", `"`)), " "))
	switch inst {
	case `version="1.0"`, `version="1.0" encoding="utf-8"`, `version="1.0" encoding="utf-8" standalone="yes"`:
		return true
	}
	return false
}

// attributes reports whether an element has none, or, for the root, S3's
// namespace.
func attributes(list []xml.Attr, root bool) bool {
	if len(list) == 0 {
		return true
	}
	a := list[0]
	return root && len(list) == 1 && a.Name.Space == "" && a.Name.Local == "xmlns" && a.Value == s3Namespace
}
