// Package federate is the Backend that makes one catalog of a mount table.
//
// It routes each call by the first level of its namespace, lists the root as
// the union of the mounts' names and the top level of the catalog underneath,
// and keeps the rules of what may not cross mounts. What a mount's own root
// answers is the mount's business: its Tree says so (wrap.Prefix). It keeps no
// state and makes no call of its own but the one it routes.
//
//	prod.analytics.events  ->  mount "prod"
//	scratch.tmp            ->  mount "/", the catalog underneath
//
//	tree := federate.New(table, keyring, federate.Options{Name: "icefield"})
//
// It is not a cache and no policy: what a caller may see is decided around it,
// how a mount is reached below it.
//
// Layer: above mounts, below router; a sibling of the backends.
package federate
