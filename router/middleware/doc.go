// Package middleware holds what stands between the HTTP server and the
// catalog's routes: panic recovery, request ids, the access log, the body cap,
// the gates that ask how often and who (Arrive, LimitClients, Authenticate,
// LimitTenants), loop detection and the reading of request paths.
//
// Each piece is a function from handler to handler; Begin is the outermost, and
// makes the Call that the others read and fill. None of them writes an answer by
// itself: a refusal goes to the Fail function it was given, so that every answer
// has the catalog's error shape.
//
//	chain := middleware.Begin(fail, logger, finished,
//		middleware.BodyCap(fail, 64<<20,
//			middleware.Arrive(nil, gates, nil,
//				middleware.LimitClients(fail, limits,
//					middleware.Authenticate(fail, logins, refused,
//						middleware.LimitTenants(fail, limits,
//							middleware.Loop(fail, "instance-id",
//								middleware.Paths(isPrefix, routes))))))))
//
// It does not know by what somebody is known or counted, nor any operation of
// the catalog. Layer: below router, above policy.
package middleware
