package journal

import "io"

// EncodeEffects is used for the traces.
var EncodeEffects = encodeEffects

// Quota is an output to files on a fake disk with room bytes, which then fails with err
// in the middle of a write.
func Quota(base string, room *int, err error) Output {
	return &output{store: quota{folder{base}, room, err}, bytes: minBytes, keep: 100}
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
