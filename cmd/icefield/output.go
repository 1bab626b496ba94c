package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// outputFormat is the value of --output.
type outputFormat string

const (
	outputText outputFormat = "text"
	outputJSON outputFormat = "json"
)

// String implements pflag.Value.
func (f *outputFormat) String() string { return string(*f) }

// Type implements pflag.Value.
func (f *outputFormat) Type() string { return "text|json" }

// Set implements pflag.Value.
func (f *outputFormat) Set(s string) error {
	switch outputFormat(s) {
	case outputText, outputJSON:
		*f = outputFormat(s)
		return nil
	}
	return fmt.Errorf(`must be "text" or "json"`)
}

// outputFlag gives a command the flag --output.
func outputFlag(cmd *cobra.Command) *outputFormat {
	format := outputText
	cmd.Flags().VarP(&format, "output", "o", "how to write the result")
	return &format
}

func writeJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
