package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native"
	"github.com/icefield/icefield/policy/sign"
	"github.com/icefield/icefield/policy/vend"
)

// granting puts around a registry what hands out access to its files. Who may
// have it is decided outside. On an error everything is closed.
func granting(ctx context.Context, m config.Mount, registry *native.Backend, around surroundings) (mounts.Backend, error) {
	n := m.Native
	var backend mounts.Backend = registry.Idempotent()
	if n.Signing {
		signed, err := sign.Around(backend, sign.Options{Warehouse: registry.Warehouse(), Storage: n.Storage, Vends: n.Vending != nil, ChecksBodies: n.BulkDelete})
		if err != nil {
			return nil, errors.Join(err, backend.Close())
		}
		backend = signed
	}
	if n.Vending == nil {
		return backend, nil
	}
	provider, err := provider(ctx, n)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("vending: %w", err), backend.Close())
	}
	return vend.Around(backend, vend.Options{Provider: provider, Warehouse: registry.Warehouse(),
		Observe: around.vending.Of(m.Name, n.Vending.Kind)}), nil
}

// provider is what makes storage credentials.
func provider(ctx context.Context, n *config.Native) (vend.Provider, error) {
	v := n.Vending
	switch v.Kind {
	case config.VendGCS:
		file := v.CredentialsFile
		if file == "" {
			file = n.Storage["gcs.keypath"]
		}
		return vend.GCS(ctx, vend.GCSOptions{CredentialsFile: file, ProjectID: v.ProjectID, STSEndpoint: v.STSEndpoint})
	case config.VendAzure:
		secret, err := config.Variable(v.ClientSecretEnv)
		if err != nil {
			return nil, err
		}
		return vend.Azure(ctx, vend.AzureOptions{TenantID: v.TenantID, ClientID: v.ClientID, ClientSecret: secret, Duration: v.Duration})
	}
	opt, err := roleOptions(n)
	if err != nil {
		return nil, err
	}
	return vend.AWS(ctx, opt)
}

// roleOptions says which role is assumed and by whom: by the login that is named,
// or else by that of the mount's storage.
func roleOptions(n *config.Native) (vend.AWSOptions, error) {
	v := n.Vending
	opt := vend.AWSOptions{RoleARN: v.RoleARN, Duration: v.Duration, Region: v.Region, STSEndpoint: v.STSEndpoint, KMSKeys: v.KMSKeys, SessionTags: v.SessionTags}
	if opt.Region == "" {
		opt.Region = first(n.Storage, "s3.region", "client.region")
	}
	if v.AccessKeyIDEnv == "" {
		opt.AccessKeyID, opt.SecretAccessKey = n.Storage["s3.access-key-id"], n.Storage["s3.secret-access-key"]
		opt.SessionToken = n.Storage["s3.session-token"]
	}
	for _, secret := range []struct {
		variable string
		into     *string
	}{
		{v.ExternalIDEnv, &opt.ExternalID}, {v.AccessKeyIDEnv, &opt.AccessKeyID}, {v.SecretAccessKeyEnv, &opt.SecretAccessKey}, {v.SessionTokenEnv, &opt.SessionToken},
	} {
		if secret.variable == "" {
			continue
		}
		var err error
		if *secret.into, err = config.Variable(secret.variable); err != nil {
			return opt, err
		}
	}
	if v.CAFile != "" {
		text, err := os.ReadFile(v.CAFile)
		if err != nil {
			return opt, err
		}
		if opt.RootCAs = x509.NewCertPool(); !opt.RootCAs.AppendCertsFromPEM(text) {
			return opt, fmt.Errorf("ca_file %s holds no PEM certificate", v.CAFile)
		}
	}
	return opt, nil
}

// first is the first of some properties that is set.
func first(properties map[string]string, keys ...string) string {
	for _, key := range keys {
		if properties[key] != "" {
			return properties[key]
		}
	}
	return ""
}
