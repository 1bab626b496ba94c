package config

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// secretEnv reads the name of an environment variable that holds a secret, and
// makes sure that there is one. It returns "" after reporting a mistake. What
// does not look like a variable's name may be the secret itself, so it is not
// repeated.
func (l *loader) secretEnv(attr *hcl.Attribute) string {
	name := l.text(attr, "")
	if name == "" {
		return ""
	}
	value, ok := l.lookup(name)
	usual := variableName.MatchString(name) && name == strings.ToUpper(name)
	switch {
	case ok && value != "":
		return name
	case !usual:
		l.hide(attr)
		l.refuse(attr, "No such variable", fmt.Sprintf("%s takes the name of an environment variable, and there is none of this name. "+
			"A secret itself is not written here: put it into a variable and name that.", attr.Name))
	case ok:
		l.refuse(attr, "Empty secret", fmt.Sprintf("The environment variable %s is set, but empty. Put the secret into it.", name))
	default:
		l.refuse(attr, "No such variable", fmt.Sprintf("The environment variable %s is not set. Put the secret into it.", name))
	}
	return ""
}

// secretFile reads the path of a file that holds a secret, and makes sure that
// there is one. It returns "" after reporting a mistake.
func (l *loader) secretFile(attr *hcl.Attribute) string {
	path := l.text(attr, "")
	if path == "" {
		return ""
	}
	path = absolute(dirOf(attr), path)
	secret, err := ReadSecret(path)
	switch {
	case err != nil:
		l.refuse(attr, "Unreadable secret", fmt.Sprintf("%s: %s. %s names a file that holds the secret; a relative path starts at the folder of the configuration file.", path, readProblem(err), attr.Name))
	case secret == "":
		l.refuse(attr, "Empty secret", fmt.Sprintf("The file %s holds nothing. Put the secret into it.", path))
	default:
		return path
	}
	return ""
}

// ReadSecret reads the secret in a file, without blanks and line breaks around
// it.
func ReadSecret(path string) (string, error) {
	text, err := readBounded(path, 64<<10)
	return strings.TrimSpace(string(text)), err
}

// Token returns what reads the token of a bearer auth. It reads again at each
// call, so that a token can be renewed while the server runs. Its errors name
// the variable or file and never the token.
func (a Auth) Token() func() (string, error) {
	return secretReader("token", a.TokenEnv, a.TokenFile)
}

// ClientSecret is Token for the secret of an OAuth2 client; nil if there is none.
func (a Auth) ClientSecret() func() (string, error) {
	if a.ClientSecretEnv == "" && a.ClientSecretFile == "" {
		return nil
	}
	return secretReader("client secret", a.ClientSecretEnv, a.ClientSecretFile)
}

// Variable reads an environment variable that names a secret; empty for no name.
// The error names the variable.
func Variable(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	if value := os.Getenv(name); value != "" {
		return value, nil
	}
	return "", fmt.Errorf("the environment variable %s is not set", name)
}

// secretReader reads a variable, or else a file, at each call.
func secretReader(what, env, file string) func() (string, error) {
	if file == "" {
		return func() (string, error) { return Variable(env) }
	}
	return func() (string, error) {
		secret, err := ReadSecret(file)
		if err != nil {
			return "", fmt.Errorf("the %s file %s: %s", what, file, readProblem(err))
		}
		if secret == "" {
			return "", fmt.Errorf("the %s file %s is empty", what, file)
		}
		return secret, nil
	}
}
