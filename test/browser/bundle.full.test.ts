/** The size of the client in a page: how much it loads, and when. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bundle, gzipBytesOf } from './bundle.ts'
import type { Bundle, Chunk } from './bundle.ts'

/** 12 KiB over all chunks, each compressed on its own. */
const maxInitialBytes = 12_288

const program = `export { connect } from '@parley/a2a/client'`
const made = await bundle(program)
const everything = await bundle(`export * from '@parley/a2a/client'`)
const initial = made.load(made.entry)
const onDemand = [...made.chunks.values()].filter((chunk) => !initial.includes(chunk))

const modulesOf = (chunks: readonly Chunk[]): string[] => chunks.flatMap(({ modules }) => modules)

/** What `connect` loads beside its first chunk: each as soon as it is known to be needed. */
const toAsk = ['client/card/read-card.ts', 'client/fallback.ts', 'versions/v1_0/index.ts']
const toStream = [...toAsk, 'client/stream/stream-runtime.ts']
const loaded = (modules: readonly string[], { entry, load, fileOf }: Bundle = made): readonly Chunk[] =>
  load(entry, ...modules.map(fileOf))

describe('the client in a bundle', () => {
  it(`starts with at most ${maxInitialBytes} bytes, gzipped`, async () => {
    const a2aJs = await bundle(`export { ClientFactory } from 'a2a-sdk-1/client'`)
    const lines = [
      ...[...initial].map((chunk) => line('at once', chunk)),
      ...onDemand.sort((a, b) => b.gzipBytes - a.gzipBytes).map((chunk) => line('on demand', chunk)),
      sum('at once, in all', initial),
      sum('until the first answer of a 1.0 agent', loaded(toAsk)),
      sum('until the first event of its first stream', loaded(toStream)),
      sum('@a2a-js/sdk 1.3.0, ClientFactory, at once', a2aJs.load(a2aJs.entry)),
    ]
    console.log(lines.join('\n'))
    assert.ok(gzipBytesOf(initial) <= maxInitialBytes, `${gzipBytesOf(initial)} bytes`)
  })

  it('does not grow behind its first chunk', () => {
    // 27,648 before a page without a network could load nothing for its error.
    assert.ok(gzipBytesOf(loaded(toAsk)) <= 27_712, sum('until the first answer', loaded(toAsk)))
    // 33,000 before answers were counted (limits.jsonNodes) and signals cleaned up; 34,800 before follow-ups left out earlier turns
    // and 0.x peers without cursors were polled.
    assert.ok(gzipBytesOf(loaded(toStream)) <= 35_328, sum('until the first event', loaded(toStream)))
  })

  it('needs no module of Node in any chunk', async () => {
    const outside = [...made.chunks.values()].flatMap(({ output }) => output.imports.filter(({ external }) => external))
    assert.deepEqual(outside, [])
    assert.deepEqual(
      modulesOf([...made.chunks.values()]).filter((module) => module.includes('node_modules')),
      [],
    )
    await assert.rejects(bundle(`export * from 'node:fs'`), /node:fs/)
  })

  const rare = {
    OAuth: /client\/auth\/(oauth|token-|device-code|authorization-server|scheme-authenticator)/,
    'the client’s tools': /client\/conversation\/client-tools\.ts/,
    'simple tasks': /client\/simple-tasks\/simple-tasks-transport\.ts/,
    'the versions’ codecs': /versions\/v\d_\d\//,
    'card reading': /versions\/decode-card\.ts/,
    'the reading of streams':
      /client\/stream\/(follow-task|dedupe-events|stream-state|read-stream)\.ts|bindings\/sse-reader/,
    redirects: /client\/http\/follow-redirects\.ts/,
    'what checks signatures':
      /client\/card\/(card-signature|jws|trusted-keys)\.ts|versions\/(signed-card|canonical-json)\.ts/,
  }
  for (const [what, pattern] of Object.entries(rare)) {
    it(`loads ${what} on demand`, () => {
      assert.deepEqual(
        modulesOf(everything.load(everything.entry)).filter((module) => pattern.test(module)),
        [],
      )
      assert.ok(modulesOf([...everything.chunks.values()]).some((module) => pattern.test(module)))
    })
  }

  it('loads no signature check at the start', () => {
    assert.deepEqual(
      modulesOf(initial).filter((module) => /jose|jws|jwk|signature/.test(module)),
      [],
    )
  })

  it('loads only the codecs of the version in use', () => {
    const files = ['v1_0', 'v0_3', 'v0_2'].map((version) => made.fileOf(`versions/${version}/index.ts`))
    const [newest = [], ...older] = files.map((file) => modulesOf(made.load(file)))
    assert.ok(newest.some((module) => module.includes('/v1_0/')))
    assert.ok(newest.every((module) => !/\/v0_\d\//.test(module)))
    for (const modules of older) assert.ok(modules.some((module) => /\/v0_\d\//.test(module)))
  })
})

function line(when: string, { file, gzipBytes, modules }: Chunk): string {
  const names = modules.map((module) => module.replace(/^packages\/a2a\/src\//, '').replace(/\.ts$/, ''))
  const shown = names.length > 6 ? [...names.slice(0, 6), `and ${names.length - 6} more`] : names
  return `${String(gzipBytes).padStart(6)}  ${when.padEnd(9)}  ${file.replace(/-.*/, '')}: ${shown.join(', ')}`
}

function sum(what: string, chunks: readonly Chunk[]): string {
  return `${String(gzipBytesOf(chunks)).padStart(6)}  ${what}`
}
