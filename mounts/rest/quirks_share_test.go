//go:build !peers

package rest_test

const everyShare = false
