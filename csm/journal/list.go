package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Info is a journal on disk, as found by List.
type Info struct {
	Path    string // path of the first file
	Header  Header // header of the first file
	Files   int
	Bytes   int64
	Changed time.Time // modification time of the last file
	Problem error     // why this build cannot read the journal; then Header is empty
}

// List finds the journals in folder, reading only their headers. Consecutive files of one
// journal are one Info. A folder without journals is an error.
func List(folder string) ([]Info, error) {
	paths, err := expand([]string{folder})
	if err != nil {
		return nil, err
	}
	var all []Info
	for _, path := range paths {
		h, stat, err := header(path)
		if stat == nil {
			return nil, err
		}
		base, _ := splitPath(path)
		if n := len(all); err == nil && h.Part > 0 && n > 0 && all[n-1].follows(base, h) {
			last := &all[n-1]
			last.Files, last.Bytes, last.Changed = last.Files+1, last.Bytes+stat.Size(), stat.ModTime()
			continue
		}
		all = append(all, Info{Path: path, Header: h, Files: 1, Bytes: stat.Size(), Changed: stat.ModTime(), Problem: err})
	}
	return all, nil
}

// follows reports whether a file of that name and header continues the journal.
func (i Info) follows(base string, h Header) bool {
	first, _ := splitPath(i.Path)
	return i.Problem == nil && first == base && h.Started.Equal(i.Header.Started) && h.Part == i.Header.Part+i.Files
}

// header reads the first line of a file.
func header(path string) (Header, os.FileInfo, error) {
	file, err := os.Open(path)
	if err != nil {
		return Header{}, nil, fmt.Errorf("open the journal: %w", err)
	}
	defer file.Close() //nolint:errcheck // opened for reading only
	stat, err := file.Stat()
	if err != nil {
		return Header{}, nil, fmt.Errorf("open the journal: %w", err)
	}
	line, err := bufio.NewReaderSize(file, maxHeader).ReadSlice('\n')
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return Header{}, stat, fmt.Errorf("read the journal: %w", err)
	}
	h, err := readHeader(line, path)
	if err != nil {
		return Header{}, stat, err
	}
	return h, stat, nil
}
