// Puts the core beside its rivals: reads the output of `go test -bench` and the
// chart's measurements, prints the table, and writes the figures as JSON.
//
//   node bench/table.mjs GO-BENCH-OUTPUT XSTATE-JSON OUT-JSON

import { readFileSync, writeFileSync } from 'node:fs'

const [goFile, xstateFile, outFile] = process.argv.slice(2)
if (!outFile) {
  console.error('usage: node bench/table.mjs GO-BENCH-OUTPUT XSTATE-JSON OUT-JSON')
  process.exit(2)
}

/** The rows of `go test -bench`: {"csm.Step": {"ns/op": 1, "p50-ns": 1, ...}}. */
function benchmarks(text) {
  const rows = {}
  let pkg = ''
  for (const line of text.split('\n')) {
    const [, path] = /^pkg: (\S+)/.exec(line) ?? []
    if (path) pkg = path.slice(path.lastIndexOf('/') + 1)
    const [, name, figures] = /^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)/.exec(line) ?? []
    if (!name) continue
    const cells = figures.trim().split(/\s+/)
    rows[`${pkg}.${name}`] = Object.fromEntries(cells.flatMap((value, i) => (i % 2 === 0 ? [[cells[i + 1], Number(value)]] : [])))
  }
  return rows
}

const go = benchmarks(readFileSync(goFile, 'utf8'))
const xstate = JSON.parse(readFileSync(xstateFile, 'utf8'))

/** A benchmark that must be there: a rival that went missing is not silence. */
function need(name) {
  if (!go[name]) throw new Error(`${goFile} has no benchmark ${name}; was it renamed? The table needs it`)
  const row = go[name]
  return { p50: row['p50-ns'], p99: row['p99-ns'], mean: row['ns/op'], allocs: row['allocs/op'], bytes: row['B/op'] }
}

const step = need('csm.Step')
const implementations = [
  ['csm.Step: all regions, effects, deadlines', step],
  ['a switch by hand: the conversation alone', need('csm.Rival/SwitchChart')],
  ['stateless: the conversation alone', need('csm.Rival/StatelessChart')],
  ['stateless: one fire, two states', need('csm.StatelessFire')],
  [`XState ${xstate.xstate} actor.send: all regions`, xstate.actor],
  [`XState ${xstate.xstate} transition(): all regions`, xstate.transition],
].map(([name, figures]) => ({ name, ...figures, toStep: figures.p50 / step.p50 }))

const { 'over-budget': over, 'worst-allocs-over': worst, events } = go['csm.Step']

const duration = (ns) => {
  if (ns === undefined) return '-'
  if (ns >= 1e6) return `${(ns / 1e6).toFixed(2)} ms`
  return ns >= 1e3 ? `${(ns / 1e3).toFixed(2)} us` : `${ns.toFixed(0)} ns`
}

const count = (n) => (n === undefined ? '-' : n.toFixed(0))

const print = (name, p50, p99, mean, allocs, bytes, ratio) =>
  console.log([name.padEnd(46), ...[p50, p99, mean, allocs, bytes, ratio].map((cell) => cell.padStart(9))].join(' '))

console.log(`\na step of the core beside its rivals, over the same ${events} events of three turns`)
print('an event in', 'p50', 'p99', 'mean', 'allocs', 'bytes', 'p50 ratio')
for (const { name, p50, p99, mean, allocs, bytes, toStep } of implementations) {
  print(name, duration(p50), duration(p99), duration(mean), count(allocs), count(bytes), toStep.toFixed(toStep < 10 ? 2 : 0))
}
console.log(`Node ${xstate.node}, warm after ${xstate.warmup} events of each kind; V8 counts no objects`)
console.log(`allocations over 4 + effects + changed regions: ${over} of ${events} events, the worst by ${worst}`)

const audioRate = Object.entries(go).filter(([name]) => name.startsWith('csm.AudioRate/'))
if (audioRate.length === 0) throw new Error(`${goFile} has no benchmark csm.AudioRate; was it renamed? The table needs it`)
console.log()
print('a fact at the rate of audio', 'p50', 'p99', 'mean', 'allocs', 'bytes', '')
for (const [name, row] of audioRate) {
  print(name.slice('csm.AudioRate/'.length), duration(row['p50-ns']), duration(row['p99-ns']), duration(row['ns/op']), count(row['allocs/op']), count(row['B/op']), '')
}

const replay = Object.entries(go).filter(([name]) => name.startsWith('journal.Replay'))
if (replay.length > 0) console.log()
for (const [name, row] of replay) {
  console.log(`${name.padEnd(46)} ${`${Math.round(row['events/s'])} events/s`.padStart(19)}`)
}

writeFileSync(outFile, `${JSON.stringify({
  node: xstate.node, xstate: xstate.xstate, warmup: xstate.warmup, events, implementations,
  budget: { fixed: 4, over, worst },
  audioRate: Object.fromEntries(audioRate), replay: Object.fromEntries(replay),
}, null, 2)}\n`)
