/** `npm ci` works on every platform: no package is missing, and no registry is named. */
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

/** As Node would find it: beside the package, or in a folder above. */
function isFound(name: string, place: string): boolean {
  if (`${place === '' ? '' : `${place}/`}node_modules/${name}` in packages) return true
  if (place === '') return false
  return isFound(name, place.slice(0, Math.max(0, place.lastIndexOf('node_modules/') - 1)))
}

describe('package-lock.json', () => {
  it('has every package of every platform: npm omits those that its registry lacked, and `npm ci` then fails', () => {
    const missing = Object.entries(packages).flatMap(([place, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter((name) => !isFound(name, place)),
    )
    assert.deepEqual(missing, [])
  })

  it('names no registry', () => {
    assert.doesNotMatch(text, /"resolved": "https?:/)
  })
})
