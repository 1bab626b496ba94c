package rest

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/mounts/mounttest"
)

// byJSONText is what jsontext makes of a text: whether it is one value, and
// where that ends.
func byJSONText(data []byte) (int, bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	if _, err := dec.ReadValue(); err != nil {
		return 0, false
	}
	end := int(dec.InputOffset())
	_, err := dec.ReadToken()
	return end, err == io.EOF
}

func bySkipping(data []byte) (int, bool) {
	end, err := skipValue(data, 0, 0)
	return end, err == nil && skipSpace(data, end) == len(data)
}

var jsonSamples = []string{
	`{}`, `[]`, `""`, `0`, `-0`, `-`, `01`, `1.`, `.5`, `1e`, `1e+`, `1E-07`, `1.5e+10x`, `true`, `tru`, `trueish`, `null`, `nul`, ` 	{ } `,
	`{"a":1,}`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1 "b":2}`, `[1,]`, `[,1]`, `[1 2]`, `{"a":[{"b":{}},[]],"c":"d"}`, `{"a":1,"a":2}`,
	`"plain text of more than eight bytes"`, `"1234567"`, `"12345678"`, `"quote at 8\""`, `"\u00e9\ud83d\ude00"`, `"\ud83d"`, `"\ude00"`, `"\ud83d\u0041"`,
	`"\ud83dx"`, `"\u12g4"`, `"\u12`, `"\x"`, `"\`, `"`, "\"a\tb\"", "\"\x7f\"", "\"é😀ü\"", "\"\xff\"", "\"12345678\xc3\"", "\"\xed\xa0\x80\"", "\"\xc0\x80\"",
	`{"a" : 1 , "b" : [ ] }`, `[[[[[[]]]]]]`, `{"a":"b"]`, `["a"}`, `}`, `]`, `,`, `:`, ``, ` `, `{"":""}`, `"\b\f\n\r\t\/\\"`, `1 2`, `{} {}`,
	"\ufeff{}", `{"metadata":{"format-version":2,"properties":{"comment":"a \"quoted\" word"}}}`,
}

func TestSkippingAcceptsWhatJSONTextAccepts(t *testing.T) {
	all := jsonSamples
	for _, depth := range []int{maxDepth - 1, maxDepth, maxDepth + 1} {
		all = append(all, strings.Repeat("[", depth)+strings.Repeat("]", depth), strings.Repeat(`{"a":`, depth)+"1"+strings.Repeat("}", depth))
	}
	for _, text := range all {
		wantEnd, want := byJSONText([]byte(text))
		end, ok := bySkipping([]byte(text))
		if ok != want || ok && end != wantEnd {
			t.Errorf("%.60q: ends at %d, %v; jsontext says %d, %v", text, end, ok, wantEnd, want)
		}
	}
}

func FuzzSkippingIsJSONTexts(f *testing.F) {
	for _, text := range jsonSamples {
		f.Add([]byte(text))
	}
	f.Add([]byte(mounttest.Metadata(2000)))
	f.Fuzz(func(t *testing.T, data []byte) {
		wantEnd, want := byJSONText(data)
		end, ok := bySkipping(data)
		if ok != want || ok && end != wantEnd {
			t.Errorf("%q: ends at %d, %v; jsontext says %d, %v", data, end, ok, wantEnd, want)
		}
	})
}

func BenchmarkSkip(b *testing.B) {
	data := mounttest.Metadata(20 << 10)
	b.Run("skip", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, ok := bySkipping(data); !ok {
				b.Fatal("not JSON")
			}
		}
	})
	b.Run("jsontext", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := decoder(data).ReadValue(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
