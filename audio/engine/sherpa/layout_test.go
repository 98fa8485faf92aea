package sherpa

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// childEnv makes the test binary print the layout.
const childEnv = "AGENTVOICE_TEST_LAYOUT"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		printLayout()
		return
	}
	os.Exit(m.Run())
}

var update = flag.Bool("update", false, "write the golden files")

// mark fills each field of a structure with a value that identifies it: strings contain
// the field's path, numbers count up.
func mark(v reflect.Value, path string, count *int) {
	for i := range v.NumField() {
		f, name := v.Field(i), path+"."+v.Type().Field(i).Name
		f = reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem() // the fields are unexported
		switch f.Kind() {
		case reflect.Struct:
			mark(f, name, count)
		case reflect.Pointer:
			f.Set(reflect.ValueOf(cString("@" + name[1:])))
		case reflect.Int32:
			*count++
			f.SetInt(int64(1000 + *count))
		case reflect.Float32:
			*count++
			f.SetFloat(float64(*count) + 0.5)
		}
	}
}

// printLayout makes the library print its interpretation of each structure.
func printLayout() {
	l, err := loadLibrary(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	count := 0
	online, offline, tts := &onlineConfig{}, &offlineConfig{}, &ttsConfig{}
	mark(reflect.ValueOf(online).Elem(), "", &count)
	l.CreateOnlineRecognizer(online)
	mark(reflect.ValueOf(offline).Elem(), "", &count)
	l.CreateOfflineRecognizer(offline)
	mark(reflect.ValueOf(tts).Elem(), "", &count)
	l.CreateOfflineTts(tts)
}

// TestLayout checks that the library finds each field where this package puts it. The
// golden file is the library's output: its field names with our marks.
func TestLayout(t *testing.T) {
	runtime, err := assets.SherpaRuntime()
	if err != nil {
		t.Fatal(err)
	}
	library, err := assets.Sherpa()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], runtime, library)
	cmd.Env = append(os.Environ(), childEnv+"=1")
	var words bytes.Buffer
	cmd.Stderr = &words
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, words.String())
	}
	var got strings.Builder
	for line := range strings.Lines(words.String()) {
		if at := strings.Index(line, "Config("); at >= 0 && strings.Contains(line, "@") {
			line = line[strings.LastIndexFunc(line[:at], func(r rune) bool { return !unicode.IsLetter(r) })+1:]
			got.WriteString(strings.ReplaceAll(strings.TrimSpace(line), "), ", "),\n ") + "\n\n")
		}
	}
	golden := filepath.Join("testdata", "layout.txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	theirs, ours := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(theirs), len(ours)) {
		if i >= len(theirs) || i >= len(ours) || theirs[i] != ours[i] {
			t.Fatalf("line %d: the library understands\n%s\nwant\n%s", i+1, strings.Join(theirs[min(i, len(theirs)):], "\n"), strings.Join(ours[min(i, len(ours)):], "\n"))
		}
	}
}
