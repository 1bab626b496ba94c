package native

import (
	"github.com/icefield/icefield/native/warehouse"
)

// An object's metadata file lies where whoever may write the object's data has
// keys for. The pointer to it is the registry's own word; what stands in the file
// may have been written by anybody with such a key, and so may be the location
// that it names. That location counts for as much as the object's own only where
// the pointer says the same: where the file lies in the folder metadata of it. An
// object that keeps its metadata elsewhere (write.metadata.path, or registered
// from a file elsewhere and not changed since) is looked at, each time, as one
// that is about to move to where its metadata says it lies.

// metadataFolder is the folder of an object's location that its metadata files
// are in.
const metadataFolder = "metadata"

// vouched reports whether an object's pointer says too that it lies there.
func vouched(pointer string, place warehouse.Location) bool {
	file, err := warehouse.Parse(pointer)
	if err != nil || file.Parent().Base() != metadataFolder {
		return false
	}
	lies := file.Parent().Parent()
	return lies.Within(place) && place.Within(lies)
}

// keptIn is the folder for the metadata files of an object that lies at place,
// where its properties choose one. No folder metadata but its own holds them
// directly, since the pointer would vouch for the folder around it.
func keptIn(chosen, place warehouse.Location) warehouse.Location {
	own := place.Join(metadataFolder)
	if chosen.Base() != metadataFolder || chosen.Within(own) && own.Within(chosen) {
		return chosen
	}
	return chosen.Join("files")
}
