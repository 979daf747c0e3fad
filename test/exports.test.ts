/** The public surface of `@parley/a2a`: a door or a name appears, disappears or moves only on purpose. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const home = join(import.meta.dirname, '../packages/a2a')

/** Each door with what can be imported from it at run time. Types are not listed: they exist for the compiler only. */
const doors: Readonly<Record<string, readonly string[]>> = {
  '.': [],
  './server': [],
  './node': [],
  './stores/sqlite': [],
  './testing': [],
}

interface Door {
  readonly source: string
  readonly types: string
  readonly default: string
}

describe('the doors of @parley/a2a', () => {
  const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { exports: Record<string, Door> }

  it('are these and no others', () => {
    assert.deepEqual(Object.keys(manifest.exports).sort(), Object.keys(doors).sort())
  })

  for (const [door, names] of Object.entries(doors)) {
    it(`${door} leads to one source file, built beside its types`, () => {
      const { source, types, default: built } = manifest.exports[door]!
      assert.ok(existsSync(join(home, source)), `${source} does not exist`)
      const compiled = source.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, '')
      assert.deepEqual([built, types], [`${compiled}.js`, `${compiled}.d.ts`])
    })

    it(`${door} exports what is listed here`, async () => {
      const module = (await import(`@parley/a2a${door.slice(1)}`)) as object
      assert.deepEqual(Object.keys(module).sort(), [...names].sort())
    })
  }
})
