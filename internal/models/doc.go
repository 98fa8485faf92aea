// Package models installs, verifies and removes the sherpa-onnx library and its
// speech models on a user's machine.
//
// # Model
//
// A manifest in the tree has the source of each model, and the size and SHA-256 of
// each of its files. A Store is a folder of models in the layout that package engine
// reads:
//
//	models/
//	  .lock              held during changes
//	  .install-NAME/     partial download; *.part are incomplete files
//	  .old-NAME/         model that is being replaced
//	  NAME/              an installed model: its files, model.json and SHA256SUMS
//
// # The caller's loop
//
//	store, err := models.Open(models.Options{Dir: dir, Assets: assets, Report: func(e models.Event) { ... }})
//	for _, m := range store.Manifest.Recommend("en", models.ThisMachine().Class()) {
//		err := store.Install(ctx, m.Name) // after the user accepted m.Licence
//	}
//
// # Invariants
//
// A model appears under its name once all of its files match their pinned checksums,
// and an installed model stays until its replacement is complete. An interrupted
// install can be resumed. Nothing is written outside of the folder. Only one process
// changes it at a time. Errors do not name the user's folders, and say what to do.
package models
