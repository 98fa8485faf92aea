// Package smartturn computes Smart Turn v3 (BSD-2-Clause), which judges by the sound of an
// utterance whether the turn is complete, in the child process of package engine.
package smartturn
