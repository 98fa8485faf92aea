package models

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// partSuffix marks an incomplete file.
	partSuffix = ".part"
	// originSuffix marks the record of a part's origin.
	originSuffix = ".origin"
	// attempts is how many times in a row a mirror may fail without progress.
	attempts = 5
	// reportEvery is the minimum interval of progress reports.
	reportEvery = 200 * time.Millisecond
)

// downloader downloads files from several mirrors, and resumes partial downloads.
type downloader struct {
	client *http.Client
	// stall is how long a server may send nothing; retry is the first of the growing
	// delays before a server is retried.
	stall, retry time.Duration
	// progress receives the current size of the part.
	progress func(path string, done int64)
	note     func(text string)
}

// origin records which server sent a part, and the version of the file.
type origin struct {
	URL  string `json:"url"`
	ETag string `json:"etag,omitempty"`
}

// contentError means that a server's content differs from the pinned one. Retrying
// that server does not help.
type contentError struct{ what string }

func (e contentError) Error() string { return e.what }

// statusError is a response with an error status.
type statusError struct {
	status int
	after  time.Duration // from Retry-After
}

func (e statusError) Error() string {
	return fmt.Sprintf("the server returned %d %s", e.status, http.StatusText(e.status))
}

// temporary reports whether a retry may help.
func (e statusError) temporary() bool {
	return e.status == http.StatusRequestTimeout || e.status == http.StatusTooManyRequests || e.status >= 500
}

// localError is a failure of the local disk, which another mirror does not fix.
type localError struct{ err error }

func (e localError) Error() string {
	why := e.err
	var path *os.PathError
	if errors.As(why, &path) {
		why = path.Err // without the user's path
	}
	if isDiskFull(why) {
		return "the disk is full; free some space and run the command again to resume"
	}
	return fmt.Sprintf("cannot write the download: %v; check the permissions of the folder, then run the command again", why)
}

func (e localError) Unwrap() error { return e.err }

// fetch downloads a file to path, from the first of urls that has it, and resumes an
// earlier partial download. The file gets its final name once its content matches the
// pinned checksum.
func (d *downloader) fetch(ctx context.Context, f File, urls []string, path string) error {
	if sum, err := sumOf(path); err == nil && sum == f.SHA256 {
		d.progress(f.Path, f.Size)
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return localError{err}
	}
	var failures []string
	for _, u := range urls {
		err := d.fromMirror(ctx, f, u, path)
		var local localError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("download of %s is incomplete: %w; run the command again to resume", f.Path, context.Cause(ctx))
		case errors.As(err, &local):
			return err
		}
		failures = append(failures, host(u)+": "+plain(err))
		d.note(failures[len(failures)-1])
	}
	return fmt.Errorf("cannot download %s (%s); check the network and its proxy (HTTPS_PROXY), then run the command again to resume, or use another --mirror",
		f.Path, strings.Join(failures, ", "))
}

// plain returns an error without the URL that net/http includes.
func plain(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return err.Error()
}

func host(u string) string {
	if parsed, err := url.Parse(u); err == nil {
		return parsed.Host
	}
	return "mirror"
}

// fromMirror downloads a file from one server. If the content is wrong, which may be
// due to a part of another version, it downloads the file once more from the start.
func (d *downloader) fromMirror(ctx context.Context, f File, u, path string) error {
	part := path + partSuffix
	for {
		resumed := sizeOf(part) > 0
		if err := d.complete(ctx, f, u, part); err != nil {
			return err
		}
		sum, err := sumOf(part)
		if err != nil {
			return localError{err}
		}
		if sum == f.SHA256 {
			if err := os.Rename(part, path); err != nil {
				return localError{err}
			}
			_ = os.Remove(part + originSuffix)
			return nil
		}
		if err := discard(part); err != nil {
			return err
		}
		if !resumed {
			return contentError{"the file does not match its pinned checksum and was discarded"}
		}
	}
}

// complete requests data from a server until the part has its full size.
func (d *downloader) complete(ctx context.Context, f File, u, part string) error {
	furthest, failures, delay := sizeOf(part), 0, d.retry
	for {
		if size := sizeOf(part); size > f.Size {
			if err := discard(part); err != nil {
				return err
			}
		} else if size == f.Size {
			return nil
		}
		err := d.request(ctx, f, u, part)
		var status statusError
		var content contentError
		var local localError
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil, errors.As(err, &content), errors.As(err, &local), errors.As(err, &status) && !status.temporary():
			return err
		}
		if size := sizeOf(part); size > furthest {
			furthest, failures, delay = size, 0, d.retry
		}
		if failures++; failures == attempts {
			return err
		}
		d.note(fmt.Sprintf("%s: %s; retrying", host(u), plain(err)))
		select {
		case <-time.After(max(delay, min(status.after, time.Minute))):
		case <-ctx.Done():
			return ctx.Err()
		}
		delay *= 2
	}
}

// request requests the missing rest of the part and appends it. A nil error means
// that the response was complete.
func (d *downloader) request(ctx context.Context, f File, u, part string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(d.stall, func() { cancel(fmt.Errorf("the server has sent nothing for %v", d.stall)) })
	defer watchdog.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return contentError{err.Error()}
	}
	req.Header.Set("Accept-Encoding", "identity")
	offset := sizeOf(part)
	if offset > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
		if from := readOrigin(part); from.URL == u && from.ETag != "" {
			req.Header.Set("If-Range", from.ETag)
		}
	}
	res, err := d.client.Do(req)
	if err != nil {
		return cause(ctx, err)
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusOK:
		offset = 0
	case res.StatusCode == http.StatusPartialContent && offset > 0:
	case res.StatusCode == http.StatusRequestedRangeNotSatisfiable && offset > 0:
		return errors.Join(discard(part), contentError{"the server's file is shorter than the part already downloaded"})
	default:
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After")) // 0 without the header
		return statusError{res.StatusCode, time.Duration(seconds) * time.Second}
	}
	if err := checkAnswer(res, offset, f.Size); err != nil {
		return err
	}
	if err := writeOrigin(part, origin{u, strongETag(res)}); err != nil {
		return err
	}
	return cause(ctx, d.store(res.Body, f, part, offset, watchdog))
}

// cause returns the cancellation cause of a request in preference to its error.
func cause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// checkAnswer compares the response headers with the pinned size.
func checkAnswer(res *http.Response, offset, size int64) error {
	if res.StatusCode == http.StatusPartialContent {
		var first, last, total int64
		if _, err := fmt.Sscanf(res.Header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &total); err != nil || first != offset {
			return contentError{"the server sent a different range of the file than requested"}
		}
		if total != size {
			return contentError{fmt.Sprintf("the file has %d bytes instead of %d and was discarded", total, size)}
		}
		return nil
	}
	if n := res.ContentLength; n >= 0 && n != size {
		return contentError{fmt.Sprintf("the file has %d bytes instead of %d and was discarded", n, size)}
	}
	return nil
}

// store writes a response body to the part, starting at offset.
func (d *downloader) store(body io.Reader, f File, part string, offset int64, watchdog *time.Timer) error {
	mode := os.O_WRONLY | os.O_CREATE
	if offset == 0 {
		mode |= os.O_TRUNC
	}
	file, err := os.OpenFile(part, mode, 0o644)
	if err != nil {
		return localError{err}
	}
	defer file.Close()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return localError{err}
	}
	buffer := make([]byte, 256<<10)
	done, reported := offset, time.Time{}
	for {
		n, err := body.Read(buffer)
		watchdog.Reset(d.stall)
		if done += int64(n); done > f.Size {
			return contentError{fmt.Sprintf("the server sent more than the file's %d bytes; the file was discarded", f.Size)}
		}
		if _, failed := file.Write(buffer[:n]); failed != nil {
			return localError{failed}
		}
		if err != nil || time.Since(reported) >= reportEvery {
			d.progress(f.Path, done)
			reported = time.Now()
		}
		switch {
		case errors.Is(err, io.EOF) && done < f.Size:
			return fmt.Errorf("the connection ended %d bytes early", f.Size-done)
		case errors.Is(err, io.EOF):
			return flush(file)
		case err != nil:
			return err
		}
	}
}

// flush syncs a file to disk, so that a later rename does not precede its content.
func flush(file *os.File) error {
	if err := file.Sync(); err != nil {
		return localError{err}
	}
	return nil
}

// strongETag returns the file's strong ETag, which If-Range requires.
func strongETag(res *http.Response) string {
	if tag := res.Header.Get("ETag"); strings.HasPrefix(tag, `"`) {
		return tag
	}
	return ""
}

func readOrigin(part string) origin {
	var o origin
	text, err := os.ReadFile(part + originSuffix)
	if err != nil || json.Unmarshal(text, &o) != nil {
		return origin{}
	}
	return o
}

func writeOrigin(part string, o origin) error {
	text, err := json.Marshal(o)
	if err == nil {
		err = os.WriteFile(part+originSuffix, text, 0o644)
	}
	if err != nil {
		return localError{err}
	}
	return nil
}

// discard removes a part and the record of its origin.
func discard(part string) error {
	_ = os.Remove(part + originSuffix)
	if err := os.Remove(part); err != nil && !errors.Is(err, os.ErrNotExist) {
		return localError{err}
	}
	return nil
}

// sizeOf returns the size of a file, or 0 if it does not exist.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// sumOf returns the SHA-256 of a file.
func sumOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
