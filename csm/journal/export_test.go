package journal

import "io"

// EncodeEffects is used for the traces.
var EncodeEffects = encodeEffects

// Quota is an output to files on a fake disk with room bytes, which then fails with err
// in the middle of a write.
func Quota(base string, room *int, err error) Output {
	return &output{store: quota{folder{base}, room, err}, bytes: MinBytes, keep: 100}
}

type quota struct {
	folder
	room *int
	err  error
}

func (q quota) create(part int) (io.WriteCloser, error) {
	file, err := q.folder.create(part)
	return limited{file, q}, err
}

type limited struct {
	io.WriteCloser
	quota
}

func (l limited) Write(b []byte) (int, error) {
	n := min(len(b), *l.room)
	*l.room -= n
	if n, err := l.WriteCloser.Write(b[:n]); n < len(b) || err != nil {
		return n, l.err
	}
	return n, nil
}

// Watched is an output to small files that calls changed after each change of the files.
func Watched(base string, keep int, changed func()) Output {
	return &output{store: watched{folder{base}, changed}, bytes: 8 << 10, keep: keep}
}

type watched struct {
	folder
	changed func()
}

func (w watched) create(part int) (io.WriteCloser, error) {
	file, err := w.folder.create(part)
	w.changed()
	return watchedFile{file, w.changed}, err
}

func (w watched) remove(part int) error {
	defer w.changed()
	return w.folder.remove(part)
}

type watchedFile struct {
	io.WriteCloser
	changed func()
}

func (w watchedFile) Write(b []byte) (int, error) {
	defer w.changed()
	return w.WriteCloser.Write(b)
}
