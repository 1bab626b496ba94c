package remote

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Table is a table or view of the remote.
type Table struct {
	MetadataLocation string
	Metadata         json.RawMessage
	Config           map[string]string
	// Credentials is the storage-credentials member; nil leaves it out.
	Credentials json.RawMessage
	// Extra are further top-level members.
	Extra map[string]json.RawMessage
	ETag  string
	// Body, if set, is the whole answer.
	Body []byte
}

type namespace struct {
	levels []string
	props  map[string]string
	tables map[string]Table
	views  map[string]Table
}

func key(levels []string) string { return strings.Join(levels, "\x1f") }

// Metadata is a small table metadata document of at least size bytes, with a
// field that no reader knows and an integer that a float would change.
func Metadata(location string, size int) json.RawMessage {
	doc := fmt.Sprintf(`{"format-version":2,"table-uuid":"6f1f9f0a-3b52-4d0e-9a57-0c1a3c7f5b11","location":%q,`+
		`"last-sequence-number":0,"last-updated-ms":1700000000000,"last-column-id":1,"current-schema-id":0,`+
		`"schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":true,"type":"long"}]}],`+
		`"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,`+
		`"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],`+
		`"x-unknown":{"keep":9007199254740993},"properties":{"pad":"`, location)
	const tail = `"}}`
	if pad := size - len(doc) - len(tail); pad > 0 {
		doc += strings.Repeat("x", pad)
	}
	return json.RawMessage(doc + tail)
}

func defaultTable(levels []string, name string, size int) Table {
	location := "s3://partner-lake/" + strings.Join(levels, "/") + "/" + name
	return Table{
		MetadataLocation: location + "/metadata/00000-a.metadata.json",
		Metadata:         Metadata(location, size),
		ETag:             `"` + fmt.Sprintf("%x", len(name)) + `-tag"`,
	}
}

// AddNamespace adds a namespace and the ones around it.
func (s *Server) AddNamespace(levels []string, props map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(levels).props = maps.Clone(props)
}

func (s *Server) add(levels []string) *namespace {
	for i := 1; i <= len(levels); i++ {
		k := key(levels[:i])
		if s.content[k] == nil {
			s.content[k] = &namespace{levels: slices.Clone(levels[:i]), tables: map[string]Table{}, views: map[string]Table{}}
		}
	}
	return s.content[key(levels)]
}

// AddTable adds a table of about 1 KB of metadata, with the namespaces around it.
func (s *Server) AddTable(levels []string, name string) Table {
	return s.PutTable(levels, name, defaultTable(levels, name, 1<<10))
}

// PutTable adds or replaces a table.
func (s *Server) PutTable(levels []string, name string, table Table) Table {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(levels).tables[name] = table
	return table
}

// AddView adds a view, with the namespaces around it.
func (s *Server) AddView(levels []string, name string) Table {
	location := "s3://partner-lake/" + strings.Join(levels, "/") + "/" + name
	namespace, _ := json.Marshal(levels)
	return s.PutView(levels, name, Table{
		MetadataLocation: location + "/metadata/00000-v.metadata.json",
		Metadata: json.RawMessage(fmt.Sprintf(`{"view-uuid":"0d1d8b5e-2f4c-4a50-8d31-1c0f2f0a9c01","format-version":1,"location":%q,`+
			`"current-version-id":1,"versions":[{"version-id":1,"schema-id":0,"timestamp-ms":1700000000000,"summary":{},`+
			`"default-namespace":%s,"representations":[{"type":"sql","sql":"select 1 < 2","dialect":"spark"}]}],`+
			`"version-log":[{"version-id":1,"timestamp-ms":1700000000000}],"schemas":[{"type":"struct","schema-id":0,"fields":[]}],`+
			`"properties":{}}`, location, namespace)),
	})
}

// PutView adds or replaces a view.
func (s *Server) PutView(levels []string, name string, view Table) Table {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(levels).views[name] = view
	return view
}

// Remove drops the namespace, or, with a name, the table or view in it.
func (s *Server) Remove(levels []string, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name == "" {
		delete(s.content, key(levels))
	} else if ns := s.content[key(levels)]; ns != nil {
		delete(ns.tables, name)
		delete(ns.views, name)
	}
}

// children lists the direct children of a namespace by name; the caller holds mu.
func (s *Server) children(parent []string) [][]string {
	return slices.DeleteFunc(s.descendants(parent), func(levels []string) bool { return len(levels) > len(parent)+1 })
}

// descendants lists all that is in a namespace, and in what is in it; the caller
// holds mu.
func (s *Server) descendants(parent []string) [][]string {
	rows := [][]string{}
	for _, ns := range s.content {
		if len(ns.levels) > len(parent) && slices.Equal(ns.levels[:len(parent)], parent) {
			rows = append(rows, ns.levels)
		}
	}
	slices.SortFunc(rows, slices.Compare)
	return rows
}
