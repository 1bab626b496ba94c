package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

// Opener opens one registry. Called again after a Close it opens the same one.
type Opener func() (store.Store, error)

// Run runs the suite; fresh gives an Opener of a new, empty registry.
func Run(t *testing.T, fresh func(t *testing.T) Opener) {
	for _, part := range []struct {
		name string
		run  func(*testing.T, store.Store)
	}{
		{"NamesAreExactAndDoNotMix", testNames},
		{"NamespacesHaveParentsAndProperties", testNamespaces},
		{"ListingsAreSeeksInBytewiseOrder", testListings},
		{"TablesAndViewsShareTheirNames", testSharedNames},
		{"ObjectsNeedANamespaceAndHoldItOpen", testObjectsInNamespaces},
		{"SwapsAreConditionalAndLogged", testSwap},
		{"RenameKeepsTheObject", testRename},
		{"CommitsRememberTheRequest", testCommitsRemember},
		{"HoldersOfAPointerAreFoundByPrefix", testHolders},
		{"HoldersAreFoundByAnyBytes", testHoldersOfAnyBytes},
		{"ReceiptsCountUntilTheyExpire", testReceipts},
		{"ReceiptsArePrunedOnceExpired", testPruneReceipts},
		{"ReceiptsAreOfTheirTransaction", testReceiptsAreOfTheirTransaction},
		{"OneReceiptOfManyRequestsAtOnce", testOneReceiptOfManyRequests},
		{"JobsKeepEveryField", testJobs},
		{"JobsAreDueInOrder", testDueJobs},
		{"JobsAreTakenOnce", testJobsAreTakenOnce},
		{"JobsAreListedNewestFirst", testListJobs},
		{"JobsArePrunedOnceFinished", testPruneJobs},
		{"AFailedTransactionLeavesNothing", testRollback},
		{"APanicIsAnErrorOfItsOwnTransaction", testPanic},
		{"ViewsCannotWrite", testView},
		{"AnEndedContextIsRefused", testContext},
		{"ConcurrentSwapsOfOnePointerLoseNothing", testConcurrentSwaps},
		{"ConcurrentCreatesHaveOneWinner", testConcurrentCreates},
		{"FailuresBesideOthersFailAlone", testFailuresBeside},
		{"CloseRefusesWhatComesLater", testClose},
	} {
		t.Run(part.name, func(t *testing.T) {
			s, err := fresh(t)()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() }) // closing twice is allowed
			part.run(t, s)
		})
	}
	t.Run("EverythingIsThereAfterAReopen", func(t *testing.T) { testReopen(t, fresh(t)) })
}

// moment is a time that survives a store's precision.
var moment = time.Date(2026, 3, 4, 5, 6, 7, 891_000, time.UTC)

func by(principal string) store.By {
	return store.By{Time: moment, Principal: principal, RequestID: "req-" + principal}
}

func ns(levels ...string) mounts.Namespace { return levels }

func id(name string, levels ...string) mounts.Identifier {
	return mounts.Identifier{Namespace: levels, Name: name}
}

func record(path mounts.Namespace, properties map[string]string) store.Namespace {
	return store.Namespace{Path: path, ID: uuid.New(), Properties: properties, Created: moment, Updated: moment}
}

func object(ident mounts.Identifier, kind store.Kind, location string) store.Object {
	return store.Object{Namespace: ident.Namespace, Name: ident.Name, Kind: kind, ID: uuid.New(), Location: location}
}

func update(t *testing.T, s store.Store, f func(store.Tx) error) {
	t.Helper()
	if err := s.Update(context.Background(), f); err != nil {
		t.Fatal(err)
	}
}

func view(t *testing.T, s store.Store, f func(store.Tx) error) {
	t.Helper()
	if err := s.View(context.Background(), f); err != nil {
		t.Fatal(err)
	}
}

// refused expects an Update to fail in a certain way.
func refused(t *testing.T, s store.Store, want error, f func(store.Tx) error) {
	t.Helper()
	if err := s.Update(context.Background(), f); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// makeNamespaces creates the paths in order.
func makeNamespaces(t *testing.T, s store.Store, paths ...mounts.Namespace) {
	t.Helper()
	update(t, s, func(tx store.Tx) error {
		for _, path := range paths {
			if err := tx.CreateNamespace(record(path, nil)); err != nil {
				return err
			}
		}
		return nil
	})
}

func makeObject(t *testing.T, s store.Store, o store.Object) store.Object {
	t.Helper()
	var made store.Object
	update(t, s, func(tx store.Tx) (err error) {
		made, err = tx.Create(o, by("maker"))
		return err
	})
	return made
}

func load(t *testing.T, s store.Store, ident mounts.Identifier) store.Object {
	t.Helper()
	var o store.Object
	view(t, s, func(tx store.Tx) (err error) {
		o, err = tx.Object(ident)
		return err
	})
	return o
}

func commits(t *testing.T, s store.Store, object uuid.UUID) []store.Commit {
	t.Helper()
	var log []store.Commit
	view(t, s, func(tx store.Tx) (err error) {
		log, err = tx.Commits(object, 0, 1<<20)
		return err
	})
	return log
}
