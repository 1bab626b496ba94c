package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// build is what the binary knows about itself.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform,omitempty"`
}

// thisBuild reads what the toolchain stamped into the binary.
func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return build{Version: "unknown"}
	}
	return describeBuild(info)
}

func describeBuild(info *debug.BuildInfo) build {
	b := build{Version: info.Main.Version, Go: info.GoVersion}
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "devel"
	}
	var system, arch string
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		case "GOOS":
			system = s.Value
		case "GOARCH":
			arch = s.Value
		}
	}
	if system != "" && arch != "" {
		b.Platform = system + "/" + arch
	}
	return b
}

// String is the build in one line.
func (b build) String() string {
	s := "icefield " + b.Version
	if b.Revision != "" {
		s += " (" + b.Revision[:min(12, len(b.Revision))]
		if b.Modified {
			s += ", modified"
		}
		if b.Time != "" {
			s += ", " + b.Time
		}
		s += ")"
	}
	if b.Go != "" {
		s += " " + b.Go
	}
	if b.Platform != "" {
		s += " " + b.Platform
	}
	return s
}

func newVersion() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which build this is",
		Args:  cobra.NoArgs,
	}
	format := outputFlag(cmd)
	cmd.RunE = failing(func(cmd *cobra.Command, _ []string) error {
		if *format == outputJSON {
			return writeJSON(cmd.OutOrStdout(), thisBuild())
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), thisBuild())
		return err
	})
	return cmd
}
