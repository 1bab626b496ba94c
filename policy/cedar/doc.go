// Package cedar decides by policies that are written in Cedar.
//
//	rules, err := cedar.Watch(cedar.Source{Files: []string{"/etc/icefield/policies/*.cedar"}}, cedar.WatchOptions{})
//	decision := rules.Decide(ctx, policy.Question{Principal: p, Action: "loadTable", Resource: orders})
//
// # What a policy can speak of
//
// The schema (schema.cedarschema) is in the namespace Icefield. Somebody is a User,
// with name, roles, login ("oidc", "api_key", "certificate") and tenant; in one
// Group a role, "acme/analyst", and in its Tenant. A Table, View or Function is in
// its Namespace, in the enclosing ones, in its Mount and in the Tenant that owns it;
// each has a name and a tenant. Ids are the full names with slashes:
// Icefield::Table::"prod/sales/orders". A table that is to be created is named like
// one that exists. There is an action for each operation, in one of the groups list,
// read, write and manage; loadTable is in read. vendRestricted and readMetrics are
// in no group, and neither is inspect where it is asked of the server.
// context has time, client (unless the client has no address), write and
// referencedBy: views that the caller may load and says that it comes through.
// Nobody checks that it does, so a policy that asks for one lets in whoever may
// load that view.
//
// # Policies
//
// Analysts read a namespace, and nothing more:
//
//	permit (
//	  principal in Icefield::Group::"acme/analyst",
//	  action in [Icefield::Action::"list", Icefield::Action::"read"],
//	  resource in Icefield::Namespace::"prod/sales"
//	);
//
// One table for one person; to be found in listings, what it is in has to be
// visible too:
//
//	@id("payroll for alice")
//	permit (
//	  principal == Icefield::User::"corp/alice",
//	  action in Icefield::Action::"read",
//	  resource == Icefield::Table::"prod/hr/payroll"
//	);
//	permit (
//	  principal == Icefield::User::"corp/alice",
//	  action in [Icefield::Action::"namespaceExists", Icefield::Action::"listNamespaces", Icefield::Action::"listTables"],
//	  resource
//	)
//	when { resource == Icefield::Mount::"prod" || resource == Icefield::Namespace::"prod/hr" };
//
// Nothing is changed from outside the company's network; has is needed where
// something may be absent, and here absence forbids:
//
//	@id("changes from inside only")
//	forbid (
//	  principal,
//	  action in [Icefield::Action::"write", Icefield::Action::"manage"],
//	  resource in Icefield::Mount::"prod"
//	)
//	unless { context has client && context.client.isInRange(ip("10.0.0.0/8")) };
//
// A contractor, until the end of the project:
//
//	permit (
//	  principal == Icefield::User::"corp/bob",
//	  action in [Icefield::Action::"list", Icefield::Action::"read"],
//	  resource in Icefield::Namespace::"prod/migration"
//	)
//	when { context.time < datetime("2027-07-01") };
//
// Rows of one country, without addresses (see below):
//
//	@id("customers of norway")
//	@row_filter("{\"type\": \"eq\", \"term\": \"country\", \"value\": \"NO\"}")
//	@mask("email=mask-alphanum, address.street=replace-with-null")
//	permit (
//	  principal in Icefield::Group::"acme/support",
//	  action in Icefield::Action::"read",
//	  resource == Icefield::Table::"prod/crm/customers"
//	);
//
// An engine that is trusted to apply such restrictions itself:
//
//	permit (
//	  principal == Icefield::User::"key/trino",
//	  action == Icefield::Action::"vendRestricted",
//	  resource in Icefield::Mount::"prod"
//	);
//
// Access to storage needs more than reading: loadCredentials, which is in read,
// and for access that can write commitTable too. To let somebody read metadata
// but no files:
//
//	forbid (
//	  principal in Icefield::Group::"acme/auditor",
//	  action in [Icefield::Action::"loadCredentials", Icefield::Action::"signRequest", Icefield::Action::"planScan"],
//	  resource
//	);
//
// # How policies compose
//
// What no permit covers is denied. One forbid outweighs every permit. A policy that
// cannot be evaluated (a sum that overflows) denies, permit or forbid: every other
// policy could have been meant to depend on it. Operators are allowed everything
// before any policy is looked at.
//
// The server's policies are evaluated for everything. A tenant's own are kept in a
// set of their own, which is looked at for resources that the tenant owns and for
// no others, whatever the policies say. Within that, they may let in principals of
// other tenants. The built-in policies (builtin.cedar) give the roles admin, writer
// and reader what their names say, in the own tenant: they are in effect if nothing
// else is, or by choice.
//
// Of the permits that let somebody read a table, one without @row_filter and @mask
// makes the read unrestricted: a restriction says what a permit gives, and takes
// nothing from another. So who is to be restricted must not be a reader by a broader
// policy too. If all are restricted, the rows of every filter may be read, and of
// two masks for one column the stricter counts.
//
// Policies are checked against the schema when they are loaded, and a set is loaded
// whole or not at all; but where it replaces another (Reload, Live), a tenant whose own
// files are at fault keeps the policies that it had, and holds nobody else up. Each
// tenant has bounds of its own on files, bytes and policies. Only the annotations @id, @description, @row_filter and @mask
// exist. Nothing may be asked of an entity that is spelled out, as in
// Icefield::Group::"acme/x" in principal.tenant.
//
// # What a decision costs
//
// Scopes are matched by an index over principal and resource, so that policies about
// other people and other things cost nothing: a decision takes some microseconds with
// 10 policies or with 10,000. The decisions that were asked for last are remembered,
// for the same caller, unless a policy in whose scope they are looks at the context
// or restricts. What is not in the scope is not indexed: a policy with
// neither principal nor resource in its scope is evaluated for every question about
// its actions, some tenths of a microsecond each, which with 10,000 of them is
// milliseconds. Prefer principal in Icefield::Group::"acme/x" to
// principal.roles.contains("x"), and resource in to comparing names. In a listing,
// conditions that look at names (resource.name like …) are evaluated row by row, two
// to three microseconds a row; all else is evaluated once, and policies that name a
// row are looked up.
//
// Layer: beside the backends, above policy.
package cedar
