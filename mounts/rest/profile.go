package rest

// Profile is what is known of a vendor's catalogs beyond what they say of
// themselves. The zero Profile is a catalog as the spec has it.
type Profile struct {
	// Name is the preset's, "polaris"; empty for none.
	Name string
	// Path is where the vendor's catalogs begin, for a catalog_url without a path.
	Path string
	// Levels is how deep namespaces can be; 0 is any depth. A deeper name is
	// absent there, and never asked for.
	Levels int
	// Separator is the namespace separator of a remote that names none.
	Separator string
	// ThrottlesWith400 takes a 400 that speaks of a rate for a 429.
	ThrottlesWith400 bool
	// MissingLists takes a required list that is missing from an answer for an
	// empty one.
	MissingLists bool
	// NoHEAD never sends HEAD, whatever the remote's list says.
	NoHEAD bool
}
