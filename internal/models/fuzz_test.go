package models

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzArchive unpacks an archive, whatever is in it: nothing is written outside of the folder.
func FuzzArchive(f *testing.F) {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, h := range []tar.Header{{Name: "a/b", Size: 1, Mode: 0o644}, {Name: "../c", Size: 1, Mode: 0o644}, {Name: "l", Typeflag: tar.TypeSymlink, Linkname: "/etc"}} {
		if err := w.WriteHeader(&h); err != nil {
			f.Fatal(err)
		}
		if h.Size > 0 {
			_, _ = w.Write([]byte("x"))
		}
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{"x.tar", "x.tar.gz", "x.tar.bz2", "x.zip"} {
		f.Add(name, packed.Bytes())
	}
	f.Add("x.zip", []byte("PK\x05\x06\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if !isArchive(name) || filepath.Base(name) != name || len(name) > 100 || len(data) > 1<<20 {
			return
		}
		top := t.TempDir()
		archive, dir := filepath.Join(top, "archive"+filepath.Ext(name)), filepath.Join(top, "dir")
		if !isArchive(archive) {
			archive = filepath.Join(top, "archive.tar"+filepath.Ext(name))
		}
		if err := os.WriteFile(archive, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		_, _ = unpack(t.Context(), archive, dir, func(string) bool { return true })
		if entries, err := os.ReadDir(top); err != nil || len(entries) != 2 {
			t.Fatalf("outside of the folder: %v, %v", entries, err)
		}
	})
}

// FuzzManifest reads a manifest: its names are names of folders, and its files are local.
func FuzzManifest(f *testing.F) {
	f.Add([]byte("{}"))
	f.Add([]byte("{\"models\":[{\"name\":\"../x\"}]}"))
	f.Add([]byte("{\"engine\":{\"packages\":[{\"files\":[{\"path\":\"/x\"}]}]}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest(data)
		if err != nil {
			return
		}
		for _, e := range m.Models {
			for _, file := range e.Files {
				if !filepath.IsLocal(filepath.FromSlash(file.Path)) || filepath.Base(e.Name) != e.Name {
					t.Fatalf("%s of %s is outside of the folder", file.Path, e.Name)
				}
			}
		}
	})
}
