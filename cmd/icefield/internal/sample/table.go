package sample

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"
	icebergio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
)

// Table is a table to create, with its rows.
type Table struct {
	Namespace []string
	Name      string
	Schema    *iceberg.Schema
	// Rows must have the columns of Schema, by name and in order.
	Rows arrow.Table
}

// CreateTable creates a table and appends its rows in one snapshot.
func (c *Catalog) CreateTable(ctx context.Context, t Table) error {
	body := map[string]any{"name": t.Name, "schema": t.Schema, "properties": map[string]string{"format-version": "2"}}
	if err := c.call(ctx, http.MethodPost, namespacePath(t.Namespace)+"/tables", body, nil); err != nil {
		return err
	}
	loaded, err := c.LoadTable(ctx, append(append(table.Identifier{}, t.Namespace...), t.Name))
	if err != nil {
		return err
	}
	_, err = loaded.AppendTable(ctx, t.Rows, t.Rows.NumRows(), nil)
	return err
}

// CountRows reads a table's data files and counts what they hold.
func (c *Catalog) CountRows(ctx context.Context, path ...string) (rows int64, err error) {
	loaded, err := c.LoadTable(ctx, path)
	if err != nil {
		return 0, err
	}
	scan := loaded.Scan()
	defer func() { err = errors.Join(err, scan.Close()) }()
	_, batches, err := scan.ToArrowRecords(ctx)
	if err != nil {
		return 0, err
	}
	for batch, err := range batches {
		if err != nil {
			return 0, err
		}
		rows += batch.NumRows()
		batch.Release()
	}
	return rows, nil
}

// tableAnswer is what loads and commits answer.
type tableAnswer struct {
	MetadataLocation string `json:"metadata-location"`
	Metadata         json.RawMessage
	Config           map[string]string
}

// LoadTable implements iceberg-go's table.CatalogIO.
func (c *Catalog) LoadTable(ctx context.Context, path table.Identifier) (*table.Table, error) {
	where, err := tablePath(path)
	if err != nil {
		return nil, err
	}
	var answer tableAnswer
	if err := c.call(ctx, http.MethodGet, where, nil, &answer); err != nil {
		return nil, err
	}
	metadata, err := table.ParseMetadataBytes(answer.Metadata)
	if err != nil {
		return nil, err
	}
	return table.New(path, metadata, answer.MetadataLocation,
		icebergio.LoadFSFunc(answer.Config, answer.MetadataLocation), c), nil
}

// CommitTable implements iceberg-go's table.CatalogIO.
func (c *Catalog) CommitTable(ctx context.Context, path table.Identifier, requirements []table.Requirement, updates []table.Update) (table.Metadata, string, error) {
	where, err := tablePath(path)
	if err != nil {
		return nil, "", err
	}
	body := map[string]any{"requirements": requirements, "updates": updates}
	var answer tableAnswer
	if err := c.call(ctx, http.MethodPost, where, body, &answer); err != nil {
		var refused *Error
		if errors.As(err, &refused) && refused.Status == http.StatusConflict {
			return nil, "", fmt.Errorf("%w: %w", table.ErrCommitFailed, err)
		}
		return nil, "", err
	}
	metadata, err := table.ParseMetadataBytes(answer.Metadata)
	return metadata, answer.MetadataLocation, err
}

func tablePath(path []string) (string, error) {
	if len(path) < 2 {
		return "", fmt.Errorf("%q names no table: it needs a namespace and a name", path)
	}
	last := len(path) - 1
	return namespacePath(path[:last]) + "/tables/" + url.PathEscape(path[last]), nil
}
