package pagination

// Request asks for one page of a listing.
type Request struct {
	// Token is where to go on: the Next of an earlier page. Empty starts the
	// listing.
	Token string
	// Size is the most rows the page may hold. 0 leaves it to the backend.
	Size int
	// Whole tells that whoever asks goes on to the listing's end in any case: a
	// page may then hold more than Size rows, where cutting it would only mean
	// fetching the same rows again.
	Whole bool
}

// Page is one page of a listing. A page may hold fewer rows than were asked
// for, even none, while Next says that there is more.
type Page[T any] struct {
	Items []T
	// Next is the token of the following page; empty on the last one.
	Next string
}
