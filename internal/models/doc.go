// Package models installs, checks and removes what sherpa-onnx needs on a user's
// machine: its library and speech models.
//
// # Model
//
// A manifest in the tree says where each model comes from, and the size and SHA-256 of
// each of its files. A Store is a folder of models as package sherpa reads it:
//
//	models/
//	  .lock              held while something is changed
//	  .install-NAME/     what is downloaded so far; *.part are unfinished files
//	  .old-NAME/         the model that is being replaced
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
// A model appears under its name when all of its files have their pinned checksums,
// and an installed model stays until its successor is complete. An install that ended
// early continues where it was. Nothing is written outside of the folder. One process
// at a time changes it. Errors name no folder of the user and say what to do.
package models
