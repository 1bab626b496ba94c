package config

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// InstanceID tells this server from others, so that a mount that leads back to
// it is noticed: replicas with the same configuration have the same one. It
// travels in requests to remotes and betrays nothing of the configuration.
func (c *Config) InstanceID() string {
	mac := hmac.New(sha256.New, append([]byte("icefield instance v1\x00"), c.Server.Secret...))
	mac.Write(canonical(c))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// Material is what the keys of page tokens are derived from when the server has
// no secret: for each mount its own settings, by its name in the mount table.
func (c *Config) Material() map[string][]byte {
	material := map[string][]byte{}
	for _, m := range c.Mounts {
		material[m.Name] = canonical(m)
	}
	return material
}

// canonical is the JSON of a value; equal values have equal bytes, since fields
// keep their order and maps are sorted.
func canonical(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		// These types hold strings, numbers and maps of strings only.
		panic("config: " + err.Error())
	}
	return text
}
