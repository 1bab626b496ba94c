// Package policy decides who may do what with which object, and who is handed
// access to storage. It holds the words of that (principal, resource, action,
// decision, restriction), and the guard: a Backend that lets pass what an
// Authorizer permits.
//
//	guard := policy.NewGuard(tree, policy.GuardOptions{Places: policy.InTree(table), Authorizer: rules})
//	router.New(router.Config{Tree: router.Catalog{Name: "icefield", Backend: guard}})
//
// The rules are Cedar's (policy/cedar), who calls is found out in policy/authn,
// what was decided is written down by policy/audit, storage credentials are made
// by policy/vend and storage requests signed by policy/sign, and policy/quota
// bounds how often anybody may ask.
//
// What is not decided here is refused: an operation without a rule, a decision
// that failed, a caller without a principal.
//
// Layer: above mounts, beside the backends, below router.
package policy
