/** `npm ci` works on a machine that is not this one: nothing is missing for other platforms, and no registry is named. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

interface Locked {
  readonly version?: string
  readonly resolved?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const text = readFileSync(join(import.meta.dirname, '../package-lock.json'), 'utf8')
const { packages } = JSON.parse(text) as { readonly packages: Readonly<Record<string, Locked>> }

/** As Node would find it: in its own folder, or in one above. */
function isFound(name: string, from: string): boolean {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    if (`${folder === '' ? '' : `${folder}/`}node_modules/${name}` in packages) return true
    if (!folder.includes('/node_modules/')) return folder !== '' && `node_modules/${name}` in packages
  }
}

describe('package-lock.json', () => {
  it('has every package that some platform needs: npm leaves out those that its registry lacked, and `npm ci` then fails', () => {
    const missing = Object.entries(packages).flatMap(([place, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter((name) => !isFound(name, place)),
    )
    assert.deepEqual(missing, [])
  })

  it('names no registry', () => {
    assert.doesNotMatch(text, /"resolved": "https?:/)
  })
})
